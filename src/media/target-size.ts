import { createPlan, planCopyWithin } from "./create-plan.ts";
import { DEFAULT_FPS } from "./features/fps.ts";
import { chapterBytes } from "./features/metadata.ts";
import { ownTextBytes } from "./features/subtitles.ts";
import { sourceForTrack } from "./features/track.ts";
import { BOUNDS, type EncodeKind, QUALITIES, type Quality } from "./formats.ts";
import type { AudioOptions, OptionsOf, VideoOptions } from "./option-types.ts";
import type { AudioPlan, Plan } from "./plan.ts";
import * as errors from "./plan-errors.ts";
import { fixedQuality } from "./quality-search.ts";
import {
  CONTAINER_BYTES,
  copiedBytes,
  maxAudioBits,
  maxVideoBits,
  mp3Bitrate,
  packetBits,
  streamBits,
  TARGET_SHARE,
  typicalQuality,
  VIDEO_FLOOR,
  videoOverhead,
} from "./rates.ts";
import { createAudioPlan } from "./sound-plan.ts";
import type { Source } from "./source.ts";

// Maximum short side in pixels, and frames per second.
const STEPS = [
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  [Number.POSITIVE_INFINITY, 30],
  [1080, 30],
  [720, 30],
  [540, 30],
  [480, 30],
  [360, 30],
  [360, 15],
  [240, 15],
  [180, 15],
  [144, 10],
] as const;

/** Returns variants of a video's options with ever smaller pictures and lower frame rates, largest first. */
function smallerOptions(options: VideoOptions, source: Source): VideoOptions[] {
  const { video } = createPlan(source, "video", { ...options, bitrate: VIDEO_FLOOR });
  if (video?.mode !== "encode") return [options];
  const { width, height } = video.geometry;
  const fps = video.fps ?? source.fps ?? DEFAULT_FPS;
  const variants = STEPS.map(([short, rate]) =>
    smaller(options, { ...smallerSize(options, { width, height }, short), ...fewerFrames(fps, rate) }),
  );
  return variants.filter((each, index) => JSON.stringify(each) !== JSON.stringify(variants[index - 1]));
}

function smallerSize(
  options: VideoOptions,
  { width, height }: { width: number; height: number },
  short: number,
) {
  const share = short / Math.min(width, height);
  if (share >= 1) return {};
  if (options.width !== undefined && options.height !== undefined)
    return { width: even(width * share), height: even(height * share) };
  return width >= height ? { width: undefined, height: short } : { width: short, height: undefined };
}

function fewerFrames(fps: number, max: number): { fps?: number } {
  const each = Math.ceil(fps / (max * 1.01));
  return each > 1 ? { fps: Number((fps / each).toFixed(3)) } : {};
}

function even(side: number): number {
  return Math.max(2, 2 * Math.round(side / 2));
}

function smaller(
  options: VideoOptions,
  change: Partial<Record<"width" | "height" | "fps", number | undefined>>,
): VideoOptions {
  const changed = { ...options, ...change };
  for (const side of ["width", "height"] as const) if (changed[side] === undefined) delete changed[side];
  return changed;
}

const SOUND_SHARE = 0.2;

/**
 * Returns options that keep a video or audio file within a number of bytes: for audio its `bitrate`; for video its `target_size`,
 * with a smaller picture, a lower frame rate and lower audio quality where the picture would otherwise be blurry. The bitrates never
 * exceed those of the source, and a source that is within the size already is copied where no option changes it.
 *
 * @param bytes Size limit of the output.
 * @throws `invalid_options` with `param` `target_size` when nothing fits, when the duration is unknown, and for kinds without a
 * bitrate; otherwise what `createPlan` throws.
 * @example client.tasks.create({ input, kind: "video", options: optionsForSize("video", {}, source, 20_000_000) });
 */
export function optionsForSize<K extends EncodeKind>(
  kind: K,
  options: OptionsOf<K>,
  source: Source,
  bytes: number,
): OptionsOf<K> {
  if (!Number.isFinite(bytes) || bytes <= 0) throw errors.sizeNotPositive();
  return OPTIONS_FOR_SIZE[kind](options, source, bytes);
}

const OPTIONS_FOR_SIZE: {
  readonly [K in EncodeKind]: (options: OptionsOf<K>, source: Source, bytes: number) => OptionsOf<K>;
} = {
  video: videoForSize,
  audio: audioForSize,
  image: unbounded,
  animation: unbounded,
  storyboard: unbounded,
  waveform: unbounded,
  adaptive_video: unbounded,
};

function unbounded(): never {
  throw errors.sizeUnbounded();
}

function videoForSize(
  { bitrate: _, target_size: __, ...options }: VideoOptions,
  source: Source,
  bytes: number,
): VideoOptions {
  const target_size = Math.floor(bytes);
  if (planCopyWithin(target_size, source, options)) return { ...options, target_size };
  const variants = smallerOptions(options, source).map((each) => fitVideo(each, source, bytes));
  const last = variants.at(-1);
  if (last && last.bitrate < VIDEO_FLOOR)
    throw errors.sizeTooSmall({ bytes, minBytes: last.min_bytes, seconds: last.seconds });
  const best = variants.find(isWatchable) ?? last;
  return best ? { ...best.options, target_size } : options;

  function isWatchable({ options, bitrate }: FittedVideo): boolean {
    if (bitrate < VIDEO_FLOOR) return false;
    const { video } = createPlan(source, "video", { ...options, bitrate });
    return typicalQuality(video, source) !== "poor";
  }
}

interface FittedVideo {
  /** Options including the quality of the audio. */
  options: VideoOptions;
  /** Bits per second left for the video, at most those of the source. */
  bitrate: number;
  /** Bytes of the file at the lowest bitrates. */
  min_bytes: number;
  seconds: number;
}

function fitVideo(options: VideoOptions, source: Source, bytes: number): FittedVideo {
  const plan = createPlan(source, "video", { ...options, bitrate: VIDEO_FLOOR });
  const seconds = secondsOf(plan);
  const overhead =
    videoOverhead(plan.frames, seconds) + ownTextBytes(plan, source) + chapterBytes(plan, source);
  const sounds = soundsFor(options, source, plan);
  const min_bytes =
    overhead +
    ((VIDEO_FLOOR / TARGET_SHARE.video + Math.min(...sounds.map(({ bits }) => bits))) * seconds) / 8;
  const total = ((bytes - overhead) * 8) / seconds;
  const sound = bestWithin(sounds, Math.min(total * SOUND_SHARE, total - VIDEO_FLOOR / TARGET_SHARE.video));
  return {
    options: { ...options, ...(sound.quality && { quality: sound.quality }) },
    bitrate: Math.min(maxVideoBits(plan, source), Math.round((total - sound.bits) * TARGET_SHARE.video)),
    min_bytes,
    seconds,
  };
}

function audioForSize(options: AudioOptions, source: Source, bytes: number): AudioOptions {
  const { min, max } = BOUNDS.audio_bitrate;
  const { bitrate: _, quality: __, ...plain } = options;
  const copy = copiedBytes(createPlan(source, "audio", plain), source);
  if (copy !== null && copy.max <= bytes) return plain;
  const plan = createPlan(source, "audio", { ...options, bitrate: max });
  const { audio, format } = plan;
  if (audio?.mode !== "encode" || audio.bitrate === null) throw errors.sizeLossless({ format });
  const seconds = secondsOf(plan);
  const overhead = CONTAINER_BYTES.audio + (seconds * packetBits(audio.sample_rate)) / 8;
  const min_bytes = overhead + (min / TARGET_SHARE.audio) * (seconds / 8);
  if (bytes < min_bytes) throw errors.sizeTooSmall({ bytes, minBytes: min_bytes, seconds });
  const max_bits = Math.min(audio.bitrate, maxAudioBits(source));
  const bitrate = Math.round(Math.min(max_bits, (((bytes - overhead) * 8) / seconds) * TARGET_SHARE.audio));
  return {
    ...options,
    bitrate: Math.max(min, audio.codec === "mp3" ? mp3Bitrate(bitrate, audio.sample_rate) : bitrate),
  };
}

/** A candidate for the audio of a video. */
interface Sound {
  /** Bits per second, with packet overhead. */
  bits: number;
  /** The quality option that gives it; absent when the options stay unchanged. */
  quality?: Quality;
}

function soundsFor(options: VideoOptions, source: Source, plan: Plan): Sound[] {
  const { audio, start, end } = plan;
  if (!audio) return [{ bits: 0 }];
  const own = streamBits(source, "audio");
  const copied =
    audio.mode === "copy" && own !== null
      ? [{ bits: own + packetBits(source.audio?.sample_rate ?? 48_000) }]
      : [];
  const trimmed = start > 0 || end !== null || plan.speed !== undefined;
  if (options.audio_bitrate !== undefined) return [{ bits: bitsOf(audio) }];
  const { channels, sample_rate } = options;
  const best = QUALITIES.indexOf(fixedQuality(options.quality) ?? "medium");
  const encoded = QUALITIES.slice(0, best + 1).map((quality) => {
    const needs = { quality, trimmed, channels, sample_rate, isLimited: true };
    const candidate = createAudioPlan(sourceForTrack(source, plan), audio.codec as Encoded["codec"], needs);
    return { bits: bitsOf(candidate), quality };
  });
  return [...copied, ...encoded.reverse()];
}

type Encoded = Extract<AudioPlan, { mode: "encode" }>;

function bitsOf(audio: AudioPlan): number {
  return audio.mode === "encode" ? (audio.bitrate ?? 0) + packetBits(audio.sample_rate) : 0;
}

function bestWithin(sounds: readonly Sound[], bits: number): Sound {
  const smallest = sounds.reduce((best, sound) => (sound.bits < best.bits ? sound : best));
  return sounds.find((sound) => sound.bits <= bits) ?? smallest;
}

function secondsOf({ duration }: Plan): number {
  if (duration === null) throw errors.sizeDurationUnknown();
  return duration;
}
