import { addParams, NATIVE_TOOLS, type Tool, type Toolset } from "../../src/ffmpeg/toolset.ts";
import { errors } from "./errors.ts";

/** What the tools of a job depend on. */
export interface JobToolsOptions extends Pick<Toolset, "lacks" | "endless"> {
  /** Names of the demuxers that may read the input. */
  readers: string;
  /**
   * Where the input is read from.
   *
   * @default loopback
   */
  from?: InputPlace;
  /**
   * Whether its output is one of several renditions.
   *
   * @default false
   */
  isRendition?: boolean;
}

/**
 * Native tools for one job: threads for so many processors, and an input that can only be HTTP on loopback, or else a file.
 * Codecs that start threads of their own receive the count in their own options.
 */
export function jobTools(
  threads: number,
  { lacks, endless, readers, from = "loopback", isRendition = false }: JobToolsOptions,
): Toolset {
  // Encoders that work on several pictures at once need more threads than this to fill the processors: as many as x264 chooses.
  const frames = threads === 1 ? 1 : Math.ceil(threads * 1.5);
  const x264 = (tool: Tool | undefined) => addTo(tool, "-x264-params", `threads=${frames}`);
  const renditions = { h264: x264(NATIVE_TOOLS.renditions.h264) };
  return {
    ...NATIVE_TOOLS,
    lacks,
    endless,
    video: {
      ...NATIVE_TOOLS.video,
      h264: isRendition ? renditions.h264 : x264(NATIVE_TOOLS.video.h264),
      h265: addTo(NATIVE_TOOLS.video.h265, "-x265-params", `pools=${threads}`),
      av1: addTo(NATIVE_TOOLS.video.av1, "-svtav1-params", `lp=${threads}`),
    },
    renditions,
    small: {
      ...NATIVE_TOOLS.small,
      h265: addTo(NATIVE_TOOLS.small.h265, "-x265-params", `pools=${threads}`),
    },
    input: inputArgs(readers, threads, from),
    output: [...NATIVE_TOOLS.output, "-threads", String(threads)],
  };
}

const PROTOCOLS = { loopback: "http,tcp", file: "file" } as const;
/** Where an input is read from. */
export type InputPlace = keyof typeof PROTOCOLS;

/** Returns the arguments before an input, which can only be HTTP on loopback or else a file, read by the given readers. */
export function inputArgs(readers: string, threads: number, from: InputPlace = "loopback"): string[] {
  // As for x264, as many threads as ffmpeg chooses itself.
  const decoding = threads === 1 ? 1 : threads + 1;
  return [
    ...NATIVE_TOOLS.input,
    ...["-protocol_whitelist", PROTOCOLS[from], "-format_whitelist", readers],
    // Every seek discards what the system has buffered for ffmpeg, all of it read over the network.
    // Large segments make loopback hold megabytes that ffmpeg may never read.
    ...(from === "file" ? [] : ["-recv_buffer_size", "65536", "-tcp_mss", "1460"]),
    ...["-threads", String(decoding)],
  ];
}

function addTo(tool: Tool | undefined, name: string, params: string): Tool {
  if (!tool) throw errors.toolMissing({ option: name });
  return addParams(tool, name, params);
}
