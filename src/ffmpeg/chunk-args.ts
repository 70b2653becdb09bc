import type { Source } from "../core/source.ts";
import type { Chunk, Plan } from "../plan/plan.ts";
import { audioArgs } from "./audio-args.ts";
import { hlsArgs } from "./hls-args.ts";
import { imageArgs, imageGraph } from "./image-args.ts";
import { muxerArgs } from "./output.ts";
import { type Cut, createCut } from "./span.ts";
import type { Toolset } from "./toolset.ts";
import { videoArgs, videoGraph } from "./video-args.ts";

/** Paths that ffmpeg reads and writes; the output of adaptive video is an existing, empty folder. */
export interface ChunkFiles {
  input: string;
  output: string;
}

/**
 * Gives the ffmpeg arguments that encode one chunk of a plan, without the program's name and without what concerns the run
 * alone (`-y`, `-nostdin`, `-progress`). Throws a RangeError when the toolset lacks the encoder: ask `checkTools` first.
 */
export function chunkArgs(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  io: ChunkFiles,
  toolset: Toolset,
): string[] {
  const cut = createCut(plan, chunk, source);
  const input = [...cut.seek, ...decoderArgs(plan, source, toolset), "-i", io.input];
  if (plan.kind === "adaptive_video")
    return [...input, ...hlsArgs(plan, chunk, source, cut, io.output, toolset)];
  return [
    ...input,
    ...(plan.image ? imageTrack(plan, source, toolset) : []),
    ...(chunk.track === "audio" ? [] : videoTrack(plan, source, cut, toolset)),
    ...(chunk.track === "video" ? [] : audioTrack(plan, source, cut, toolset)),
    ...["-map_metadata", "-1", "-map_chapters", "-1", ...toolset.output],
    ...muxerArgs(plan),
    io.output,
  ];
}

function imageTrack(plan: Plan, source: Source, toolset: Toolset): string[] {
  const { image } = plan;
  if (!image) return [];
  const graph = imageGraph(plan, source, image, toolset);
  return ["-filter_complex", graph, "-map", "[video]", ...imageArgs(plan, image, toolset)];
}

function videoTrack(plan: Plan, source: Source, cut: Cut, toolset: Toolset): string[] {
  const { video } = plan;
  if (!video) return [];
  if (video.mode === "copy") {
    const tag = video.codec === "h265" ? ["-tag:v", "hvc1"] : [];
    return ["-map", "0:V:0", "-c:v", "copy", ...tag];
  }
  const graph = videoGraph(source, video, cut, toolset);
  return ["-filter_complex", graph, "-map", "[video]", ...videoArgs(plan, source, video, toolset)];
}

function audioTrack(plan: Plan, source: Source, cut: Cut, toolset: Toolset): string[] {
  return plan.audio ? ["-map", "0:a:0", ...audioArgs(plan.audio, source, cut, toolset)] : [];
}

function decoderArgs(plan: Plan, source: Source, toolset: Toolset): string[] {
  const pictures = plan.image !== null || plan.video?.mode === "encode";
  if (!pictures) return [...toolset.input];
  const codec = source.codecs?.video;
  // ffmpeg's own decoders of VP8 and VP9 leave transparency out.
  const alpha = source.has_alpha && (codec === "vp8" || codec === "vp9");
  const decoder = codec === "vp8" ? "libvpx" : "libvpx-vp9";
  // The turn of a photo is in its EXIF data, which ffmpeg 5.1 does not heed and later ones do; so images are turned by a filter.
  const still = plan.image ? ["-noautorotate"] : [];
  return [...still, ...(alpha ? ["-c:v", decoder] : []), ...toolset.input];
}
