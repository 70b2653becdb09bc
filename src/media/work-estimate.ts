import { DEFAULT_FPS } from "./features/fps.ts";
import { partRuns } from "./features/parts-plan.ts";
import { type Size, storedPicture } from "./picture-geometry.ts";
import { type Plan, pictureSize, soundsOf, sourceSeconds } from "./plan.ts";
import type { Source } from "./source.ts";

/** The work in a plan, counted before it starts; each encoder derives its seconds and bytes from it. */
export interface WorkEstimate {
  /** Pixels of one decoded picture; 0 when none is decoded. */
  frame_decoded: number;
  /** The number of decoders that are open at once. */
  decoders: number;
  /** Pixels of the largest encoded picture; 0 when none is encoded. */
  frame_encoded: number;
  /** Pictures decoded; null when the source's duration is unknown. */
  frames_decoded: number | null;
  /** Pictures encoded, over all renditions; null when unknown. */
  frames_encoded: number | null;
  /** Pixels decoded in total; null when unknown. */
  pixels_decoded: number | null;
  /** Pixels encoded in total, over all renditions; null when unknown. */
  pixels_encoded: number | null;
  /** Pixels of the frames that an animation buffers for its palette; 0 without one, null when unknown. */
  pixels_held: number | null;
  /** Seconds of audio encoded; 0 when none is encoded, null when unknown. */
  audio_seconds: number | null;
  /** Seconds of output; 0 for a still, null when unknown. */
  seconds: number | null;
}

// Keyframes are usually 2 to 10 s apart.
const SEEK_SECONDS = 5;

/** Counts the work in a plan: pictures and pixels to decode and encode, and seconds of audio. */
export function estimateWork(plan: Plan, source: Source): WorkEstimate {
  const stored = storedPicture(source);
  const outputs = pictures(plan);
  const shrunk = 4 ** (plan.image?.shrink ?? 0);
  const areaOf = (picture: Size | null) => (picture ? picture.width * picture.height : 0);
  const parts = (plan.concat ?? []).flatMap(({ source: each, video, frames }) => {
    if (!video) return [];
    const seconds = frames / (video.fps ?? DEFAULT_FPS);
    return { area: areaOf(storedPicture(each)), frames: seconds * (each.fps ?? DEFAULT_FPS) };
  });
  const own = outputs.length > 0 && stored ? (stored.width * stored.height) / shrunk : 0;
  const frame_decoded = Math.max(own, ...parts.map(({ area }) => area));
  const seconds = plan.image && !plan.image.animated ? 0 : plan.duration;
  const decoded =
    outputs.length > 0 ? decodedFrames(plan, source, seconds === 0 ? 0 : sourceSeconds(plan)) : 0;
  const encoded = outputs.length > 0 ? (plan.frames ?? times(seconds, DEFAULT_FPS)) : 0;
  const areas = outputs.map(({ width, height }) => width * height);
  const area = areas.reduce((sum, each) => sum + each, 0);
  return {
    frame_decoded,
    decoders: plan.image ? Math.max(1, partRuns(plan).length) : 1,
    frame_encoded: Math.max(0, ...areas),
    frames_decoded: decoded,
    frames_encoded: times(encoded, outputs.length),
    pixels_decoded: plan.concat
      ? parts.reduce((sum, { area, frames }) => sum + area * frames, 0)
      : times(decoded, own),
    pixels_encoded: times(encoded, area),
    pixels_held: plan.image?.motion?.palette ? times(encoded, area) : 0,
    audio_seconds: plan.audio?.mode === "encode" ? times(seconds, soundsOf(plan).length) : 0,
    seconds,
  };
}

function pictures(plan: Plan): Size[] {
  if (plan.renditions.length > 0) return plan.renditions.map((rendition) => rendition.geometry);
  if (plan.image) return [pictureSize(plan.image)];
  return plan.video?.mode === "encode" ? [plan.video.geometry] : [];
}

function decodedFrames(plan: Plan, source: Source, seconds: number | null): number | null {
  if (plan.still) return 1;
  const fps = source.fps ?? DEFAULT_FPS;
  // The parts of an animation are decoded together with the short gaps between them.
  const runs = plan.image && plan.parts ? partRuns(plan) : null;
  const starts = (runs ?? plan.parts ?? [plan]).map(({ start }) => Math.min(start, SEEK_SECONDS));
  const seek = starts.reduce((sum, seconds) => sum + seconds, 0) * fps;
  const span = runs ? runs.reduce((sum, { start, end }) => sum + end - start, 0) : seconds;
  return span === null ? null : Math.max(1, Math.ceil(seek + span * fps));
}

function times(count: number | null, each: number): number | null {
  return count === null ? null : count * each;
}
