import type { Source } from "../core/source.ts";
import type { Plan } from "../plan/plan.ts";
import { audioArgs } from "./audio-args.ts";
import { colorArgs, videoColor } from "./color.ts";
import { MASTER } from "./output.ts";
import type { Cut } from "./span.ts";
import type { Toolset } from "./toolset.ts";
import { rateArgs, timingArgs, type VideoEncode, videoMending, videoSizing } from "./video-args.ts";

/** Seconds of a segment, and of a closed group of pictures in it. */
export const SEGMENT_SECONDS = 6;
const GROUP_SECONDS = 2;

/** Gives the filter graph of all renditions, from `[0:V:0]` to `[v0]`, `[v1]` and so on. */
export function hlsGraph(plan: Plan, source: Source, video: VideoEncode, cut: Cut, toolset: Toolset): string {
  const names = plan.renditions.map((_, index) => index);
  const split = [
    ...videoMending(video, cut),
    `split=${names.length}${names.map((name) => `[s${name}]`).join("")}`,
  ];
  const sized = plan.renditions.map(({ geometry }, index) => {
    const filters = videoSizing(source, video, geometry, toolset);
    return `[s${index}]${filters.join(",")}[v${index}]`;
  });
  return [`[0:V:0]${split.join(",")}`, ...sized].join(";");
}

/** Gives everything after the input for adaptive video; `folder` gets the master playlist and a folder for each rendition. */
export function hlsArgs(plan: Plan, source: Source, cut: Cut, folder: string, toolset: Toolset): string[] {
  const { video, audio, renditions } = plan;
  const args: string[] = [];
  if (video?.mode === "encode") {
    args.push(...["-filter_complex", hlsGraph(plan, source, video, cut, toolset)]);
    args.push(...renditions.flatMap((_, index) => ["-map", `[v${index}]`]));
    args.push(...hlsVideoArgs(plan, source, video, toolset));
  }
  if (audio) args.push("-map", "0:a:0", ...audioArgs(audio, source, cut, toolset));
  const group = audio && video ? ",agroup:audio" : "";
  const streams = renditions.map((rendition, index) => `v:${index}${group},name:${rendition.name}`);
  if (audio) streams.push(video ? "a:0,agroup:audio,default:yes,name:audio" : "a:0,name:audio");
  return [
    ...args,
    ...["-map_metadata", "-1", "-map_chapters", "-1", ...toolset.output],
    ...["-f", "hls", "-hls_time", String(SEGMENT_SECONDS), "-hls_playlist_type", "vod"],
    ...["-hls_segment_type", "fmp4", "-hls_flags", "independent_segments"],
    ...["-hls_fmp4_init_filename", "init.mp4", "-hls_segment_filename", `${folder}/%v/seg_%05d.m4s`],
    ...["-master_pl_name", MASTER, "-var_stream_map", streams.join(" "), `${folder}/%v/playlist.m3u8`],
  ];
}

function hlsVideoArgs(plan: Plan, source: Source, video: VideoEncode, toolset: Toolset): string[] {
  const tool = toolset.video[video.codec];
  if (!tool) throw new RangeError(`${toolset.name} has no ${video.codec} encoder.`);
  return [
    ...["-c:v", tool.encoder, ...tool.args],
    ...plan.renditions.flatMap(({ rate }, index) => rateArgs(video.codec, rate, `:v:${index}`)),
    ...["-force_key_frames", `expr:gte(t,n_forced*${GROUP_SECONDS})`, "-sc_threshold", "0", "-g", "600"],
    ...timingArgs(source, video),
    ...colorArgs(videoColor(source, video)),
  ];
}
