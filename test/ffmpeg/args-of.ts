import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { NATIVE_TOOLS, type Toolset } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { ChunkHints } from "../../src/media/index.ts";
import type { Source } from "../../src/media/source.ts";
import { createPlan } from "../plan/strict-plan.ts";

export interface ArgsOptions extends ChunkHints {
  toolset?: Toolset;
  /** Index of the chunk; default 0. */
  chunk?: number;
}

/** Returns the arguments for one chunk of a plan as one line, from `IN` to `OUT`. */
export function argsOf(
  source: Source,
  kind: EncodeKind,
  options: object,
  settings: ArgsOptions = {},
): string {
  const { toolset = NATIVE_TOOLS, chunk = 0, ...hints } = settings;
  const plan = createPlan(source, kind, options, hints);
  const part = plan.chunks[chunk];
  if (!part) throw new Error(`No chunk ${chunk}.`);
  return chunkArgs(plan, part, source, { input: "IN", output: "OUT" }, toolset).join(" ");
}

/** Drops the source's metadata and chapters. */
export const CLEAN = "-map_metadata -1 -map_chapters -1";
/** A filter graph with one input and one output. */
export const graph = (filters: string) => `-filter_complex [0:V:0]${filters}[video] -map [video]`;
/** Argument before the input of a video whose pictures are encoded. */
export const PIN = "-reinit_filter:v 0";
/** The filter graph of a video, which brings all pictures to the size and format of the first. */
export const pinned = (filters: string) => graph(`scale,${filters}`);
/** H.264 timing with two ticks per frame. */
export const ticks = (rate: number) =>
  `-fps_mode vfr -enc_time_base:v 1:120000 -bsf:v h264_metadata=tick_rate=${rate}:fixed_frame_rate_flag=0`;
export const tags = (name: string) =>
  `-color_primaries ${name} -color_trc ${name} -colorspace ${name} -color_range tv`;
export const TONE_MAP =
  "format=yuv444p10le,zscale=pin=bt2020:tin=smpte2084:min=bt2020nc:rin=limited:t=linear:npl=100,format=gbrpf32le," +
  "zscale=p=bt709,tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=limited,format=yuv444p";
export const FAST_TONE_MAP = "tonemap_bt709=pin=bt2020:tin=smpte2084:min=bt2020nc";
export const COPIED_SOUND = "-map 0:a:0 -c:a copy";
export const SILENT = { codecs: { video: "h264", audio: null } };
export const BT709 = { color: { hdr: false, primaries: "bt709", transfer: "bt709", space: "bt709" } };
export const HDR: Partial<Source> = {
  color: { hdr: true, primaries: "bt2020", transfer: "smpte2084", space: "bt2020nc", range: "limited" },
};
export const GIF: Partial<Source> = {
  ...{ format: "gif", animated: true, duration: 2, fps: 10, has_alpha: true, pixel_format: "bgra" },
  codecs: { video: "gif", audio: null },
};
