import { containerOf } from "../../src/media/containers.ts";
import { addParams, NATIVE_TOOLS, type Tool, type Toolset } from "../../src/media/ffmpeg/toolset.ts";
import * as errors from "./errors.ts";

/** Options of {@link jobTools}. */
export interface JobToolsOptions extends Pick<Toolset, "lacks" | "endless"> {
  /** Names of the demuxers that may read the input. */
  demuxers: string;
  /** @default loopback */
  protocol?: InputProtocol;
  /**
   * Whether its output is one of several renditions.
   *
   * @default false
   */
  isRendition?: boolean;
}

/** Returns the native tools of one job. Codecs with threads of their own get the number of threads in their own options. */
export function jobTools(
  threads: number,
  { lacks, endless, demuxers, protocol = "loopback", isRendition = false }: JobToolsOptions,
): Toolset {
  // Frame threading needs half as many threads again to fill the processors, which is also x264's default.
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
    input: inputArgs(demuxers, threads, protocol),
    output: [...NATIVE_TOOLS.output, "-threads", String(threads)],
  };
}

const PROTOCOLS = { loopback: "http,tcp", file: "file" } as const;
/** How an input is read: by HTTP on loopback, or from a file. */
export type InputProtocol = keyof typeof PROTOCOLS;

/** Returns the arguments before an input, which restrict its protocol and demuxers. */
export function inputArgs(demuxers: string, threads: number, protocol: InputProtocol = "loopback"): string[] {
  // ffmpeg uses one more thread than processors by default.
  const decoding = threads === 1 ? 1 : threads + 1;
  return [
    ...NATIVE_TOOLS.input,
    ...["-protocol_whitelist", PROTOCOLS[protocol], "-format_whitelist", demuxers],
    // Each seek discards the socket's buffer, fetched over the network; with large segments, loopback buffers megabytes.
    ...(protocol === "file" ? [] : ["-recv_buffer_size", "65536", "-tcp_mss", "1460"]),
    ...["-threads", String(decoding)],
  ];
}

function addTo(tool: Tool | undefined, name: string, params: string): Tool {
  if (!tool) throw errors.toolMissing({ option: name });
  return addParams(tool, name, params);
}

// Demuxers that open other files, devices or the network, or render text.
const REFUSED =
  /^(applehttp|avisynth|bin|concat|dash|ffmetadata|hls|image2|imf|lavfi|rtp|rtsp|sap|sdp|tty|vapoursynth|vobsub|webm_dash_manifest|xbin|adf|idf)$/;

/** Returns the demuxers that ffmpeg may use for a format; throws `input_unsupported` for formats that refer to other files. */
export function demuxersFor(format: string): string {
  if (REFUSED.test(format) || !/^\w+$/.test(format)) {
    throw errors.formatUnread({ format });
  }
  return containerOf({ format }).demuxers ?? `${format},${format}_pipe`;
}
