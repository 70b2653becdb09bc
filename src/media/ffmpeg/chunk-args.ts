import { containerOf, isQuickTime } from "../containers.ts";
import { extraFilesOf, isFfmpegInput } from "../extra-files.ts";
import type { Filter } from "../feature.ts";
import { audioFilterChain, type Gain } from "../features/audio-filters-graph.ts";
import { concatArgs, partInput } from "../features/concat-graph.ts";
import { placedParts } from "../features/concat-plan.ts";
import { metadataArgs } from "../features/metadata.ts";
import { laterInputs, partSounds, type RunInput, runInputs } from "../features/parts-graph.ts";
import { storyboardArgs } from "../features/storyboard-graph.ts";
import { sourceForTrack } from "../features/track.ts";
import { videoStream } from "../main-tracks.ts";
import type { Chunk, Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import { shownEnd } from "../timeline.ts";
import { isCopy } from "../video-plan.ts";
import { audioArgs, audioCodecArgs, sampleArgs } from "./audio-args.ts";
import * as errors from "./errors.ts";
import { hlsArgs } from "./hls-args.ts";
import { type ImageInputs, imageArgs, imageGraph } from "./image-graph.ts";
import { muxerArgs } from "./output-files.ts";
import { listPackets, listParts, listPictures } from "./packet-count.ts";
import {
  checkFilterPaths,
  lastFrameDuration,
  timescaleArgs,
  videoArgs,
  videoGraph,
  videoOver,
} from "./picture-graph.ts";
import type { Toolset } from "./toolset.ts";
import { copiesEdit, createTrim, formatSeconds, soundStream, type Trim, withinEdit } from "./trim.ts";

/** The paths that ffmpeg reads and writes; for adaptive video, `output` is an existing, empty folder. */
export interface ChunkFiles {
  input: string;
  output: string;
  /** The plan's extra files, each with its input arguments; a font is alone in its folder. Absent when the chunk reads none. */
  extra?: readonly { path: string; input: readonly string[] }[] | undefined;
  /** Path prefix for the lists of packets and pictures, see {@link listPackets}; absent to list nothing. */
  lists?: string | undefined;
  /** The gain returned by `findGain`; absent for none. */
  gain?: Gain | null;
}

/**
 * Returns the ffmpeg arguments that encode one chunk of a plan, without the program name and the global options (`-y`,
 * `-nostdin`, `-progress`). Throws a RangeError when the toolset lacks the encoder: check `refuseTools` first.
 */
export function chunkArgs(
  plan: Plan,
  part: Chunk,
  source: Source,
  io: ChunkFiles,
  toolset: Toolset,
): string[] {
  const chunk = withinEdit(plan, part, source);
  const runs = chunk.track === "video" ? [] : runInputs(plan, chunk, source);
  const trim = createTrim(plan, chunk, source);
  const files = (io.extra ?? []).map(({ path }) => path);
  checkFilterPaths(plan, chunk, files);
  const over = videoOver(plan, chunk, source, files, toolset);
  const joined = plan.concat ? concatArgs(plan, source, { ...io, over }, toolset) : null;
  const hasPictureParts = runs.length > 0 && plan.image !== null;
  if (io.lists !== undefined && decodesAll(plan, chunk) && !hasPictureParts)
    trim.video.splice(trim.uncounted, 0, listPictures(io.lists));
  const lists =
    joined?.lists ??
    (io.lists === undefined
      ? []
      : runs.length > 0
        ? listParts(plan, runs, source, io.lists)
        : listPackets(plan, chunk, source, trim, io.lists));
  const skip = chunk.keyframes_only ? ["-skip_frame", "nokey"] : [];
  const parts = placedParts(plan);
  const seek = runs[0]?.seek ?? (parts[0] ? partInput(plan, parts[0]) : trim.seek);
  const decoder = decoderArgs(plan, source, toolset);
  const input = [...seek, ...skip, ...decoder, "-i", io.input];
  input.push(...laterInputs(runs, io.input, decoder));
  const roles = extraFilesOf(plan, chunk);
  for (const [at, { path, input: before }] of (io.extra ?? []).entries()) {
    const role = roles[at];
    if (role && !isFfmpegInput(role)) continue;
    const joint = parts.find((each) => each.input === at + 1);
    if (joint) input.push(...partInput(plan, joint), ...(joint.video ? alphaArgs(joint.source) : []));
    input.push(...before, "-i", path);
  }
  const sound =
    runs.length > 0 && plan.audio ? joinedSound(plan, source, runs, toolset, io.gain ?? null) : null;
  if (plan.kind === "adaptive_video")
    return [...input, ...hlsArgs(plan, chunk, source, trim, { ...io, over, sound }, toolset), ...lists];
  const { image } = plan;
  if (image?.sheet) {
    const storyboard = { image, sprite: image.sheet, cut: trim, files };
    return [...input, ...storyboardArgs(plan, chunk, source, storyboard, io.output, toolset), ...lists];
  }
  return [
    ...input,
    ...(plan.image
      ? imageTrack(plan, source, trim, toolset, {
          files,
          parts: hasPictureParts ? { chunk, runs, lists: io.lists } : null,
        })
      : []),
    ...(joined?.tracks ?? sound ?? ownTracks(plan, chunk, source, trim, { ...io, over }, toolset)),
    ...["-map_metadata", "-1", "-map_chapters", "-1", ...toolset.output],
    ...(plan.language && chunk.track !== "video"
      ? ["-metadata:s:a:0", `language=${languageIn(plan.format, plan.language)}`]
      : []),
    ...(chunk.track === "all" ? metadataArgs(plan) : []),
    ...(isCopy(plan) || copiesEdit(plan, source) ? partArgs(plan, chunk, trim) : []),
    ...muxerArgs(plan),
    io.output,
    ...lists,
  ];
}

function ownTracks(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  trim: Trim,
  io: ChunkFiles & { over: readonly Filter[] },
  toolset: Toolset,
): string[] {
  return [
    ...(chunk.track === "audio" ? [] : videoTrack(plan, chunk, source, trim, io.over, toolset)),
    ...(chunk.track === "video"
      ? []
      : audioTrack(plan, sourceForTrack(source, plan), trim, toolset, io.gain ?? null)),
  ];
}

// Filters do not apply to copies. Beside video, earlier audio packets stay: they are hidden and prime the decoder.
function partArgs({ video }: Plan, { start, end }: Chunk, { lead }: Trim): string[] {
  return [
    ...(start > 0 ? [video ? "-copypriorss:v" : "-copypriorss:a", "0"] : []),
    ...(end === null ? [] : ["-t", formatSeconds(end - start + lead)]),
  ];
}

function decodesAll({ video, image }: Plan, { keyframes_only }: Chunk): boolean {
  if (keyframes_only) return false;
  return video?.mode === "encode" || image?.animated === true;
}

function imageTrack(plan: Plan, source: Source, trim: Trim, toolset: Toolset, inputs: ImageInputs): string[] {
  const { image } = plan;
  if (!image) return [];
  const graph = imageGraph(plan, source, image, trim, toolset, inputs);
  return ["-filter_complex", graph, "-map", "[video]", ...imageArgs(plan, source, image, toolset)];
}

function videoTrack(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  trim: Trim,
  over: readonly Filter[],
  toolset: Toolset,
): string[] {
  const { video } = plan;
  if (!video) return [];
  const until = shownEnd(source, plan, chunk);
  if (video.mode === "copy") {
    const tag = video.codec === "h265" ? ["-tag:v", "hvc1"] : [];
    return ["-map", videoStream(source), "-c:v", "copy", ...tag, ...lastDurationArgs(plan, source, until)];
  }
  const graph = videoGraph(source, video, trim, toolset, over);
  return ["-filter_complex", graph, "-map", "[video]", ...videoArgs(plan, source, video, toolset, until)];
}

// ffmpeg copies the packet durations of an MP4's index; in a fragmented one it does not know that of the last packet.
function lastDurationArgs(plan: Plan, source: Source, until: number | null): string[] {
  if (copiesEdit(plan, source)) return ["-bsf:v", lastPacketDuration(until)];
  const { indexed, clock } = containerOf(source);
  const isPart = plan.start > 0 || plan.end !== null;
  if (until === null || (indexed && !source.fragmented) || isPart) return [];
  // Until sound that is encoded has started, packets reach the filter in the source's ticks (5.1), so the output must have the same.
  if (clock === undefined && plan.audio?.mode === "encode") return [];
  return ["-bsf:v", lastFrameDuration(plan, source, until, clock), ...timescaleArgs(plan, clock)];
}

// With exact edits, ffmpeg (5.1) adds the hidden seconds to the duration of a track's last packet.
function lastPacketDuration(until: number | null): string {
  const rest = until === null ? "0" : `${formatSeconds(until)}/TB-PTS`;
  return `setts=pts=PTS:dts=DTS:duration='if(gt(NEXT_DTS,DTS),DURATION,min(DURATION,max(PREV_INDURATION,${rest})))'`;
}

function audioTrack(plan: Plan, source: Source, trim: Trim, toolset: Toolset, gain: Gain | null): string[] {
  if (!plan.audio) return [];
  if (plan.audio.mode === "copy" && copiesEdit(plan, source))
    return ["-map", soundStream(plan), "-c:a", "copy", "-bsf:a", lastPacketDuration(null)];
  const args = plan.waveform ? sampleArgs(trim, toolset) : audioArgs(plan.audio, source, trim, toolset, gain);
  return ["-map", soundStream(plan), ...args];
}

function joinedSound(
  plan: Plan,
  source: Source,
  runs: readonly RunInput[],
  toolset: Toolset,
  gain: Gain | null,
): string[] {
  const { audio } = plan;
  if (audio?.mode !== "encode") throw errors.joinedSoundCopied();
  const own = sourceForTrack(source, plan);
  const graph = partSounds(plan, runs, source, audio, audioFilterChain(audio, own, gain));
  return ["-filter_complex", graph, "-map", "[sound]", ...audioCodecArgs(audio, own, toolset)];
}

function decoderArgs(plan: Plan, source: Source, toolset: Toolset): string[] {
  const pictures = plan.image !== null || plan.video?.mode === "encode";
  if (!pictures) return [...toolset.input];
  // A photo's orientation is in its EXIF data, which ffmpeg 5.1 ignores and later versions apply, so a filter rotates images instead.
  const still = plan.image ? ["-noautorotate"] : [];
  const shrink = plan.image?.shrink ? ["-lowres", String(plan.image.shrink)] : [];
  return [
    ...still,
    ...shrink,
    ...namedArgs(source),
    ...delayArgs(source),
    ...alphaArgs(source),
    ...toolset.input,
  ];
}

// Browsers show a frame of at most 10 ms for 100 ms; by default, ffmpeg (5.1) does so for a GIF only.
const PNG_TIMING = ["-max_fps", "99", "-default_fps", "10"] as const;

function delayArgs({ kind, codecs }: Source): readonly string[] {
  return kind === "image" && codecs?.video === "apng" ? PNG_TIMING : [];
}

function namedArgs({ format, filesize = 0 }: Source): string[] {
  if (!containerOf({ format }).formatFromName) return [];
  return ["-f", "image2pipe", "-frame_size", String(filesize), "-c:v", format];
}

// ffmpeg's native VP8 and VP9 decoders drop transparency.
function alphaArgs({ codecs, has_alpha }: Source): string[] {
  const codec = codecs?.video;
  if (!has_alpha || (codec !== "vp8" && codec !== "vp9")) return [];
  return ["-c:v", codec === "vp8" ? "libvpx" : "libvpx-vp9"];
}

/** One of the outputs of a single ffmpeg process. */
export interface BatchOutput extends Pick<ChunkFiles, "output" | "lists"> {
  plan: Plan;
  chunk: Chunk;
  source: Source;
}

/** Returns the arguments of a single ffmpeg process that encodes several chunks with the same `decodeKey`. */
export function batchArgs(outputs: readonly BatchOutput[], input: string, toolset: Toolset): string[] {
  return outputs.flatMap(({ plan, chunk, source, ...files }, at) => {
    const args = chunkArgs(plan, chunk, source, { ...files, input }, toolset);
    const rest = args.indexOf("-i") + 2;
    const relabel = (arg: string, before = "") =>
      before === "-map" || before === "-filter_complex" ? arg.replace(/\[video\]$/, `[video${at}]`) : arg;
    const own = args.slice(rest).map((arg, index) => relabel(arg, args[rest + index - 1]));
    return at === 0 ? [...args.slice(0, rest), ...own] : own;
  });
}

// ffmpeg (5.1) knows QuickTime's languages by these older codes, and writes no language into a MOV for any other code.
const QUICKTIME_LANGUAGES: Readonly<Record<string, string>> = {
  ...{ bod: "tib", cym: "wel", deu: "ger", ell: "gre", eus: "baq", fas: "per", hye: "arm", isl: "ice" },
  ...{ kat: "geo", mkd: "mac", msa: "may", mya: "bur", nld: "dut", nno: "nor", nob: "nor", sqi: "alb" },
  ...{ swe: "sve", zho: "chi" },
};

function languageIn(format: string, language: string): string {
  return (isQuickTime(format) ? QUICKTIME_LANGUAGES[language] : undefined) ?? language;
}
