import { addParams, NATIVE_TOOLS, type Tool, type Toolset } from "../../src/ffmpeg/toolset.ts";

/**
 * Native tools for one job: so many threads, and an input that can only be HTTP on loopback, read by the given readers.
 * Codecs that make threads of their own are told their number in their own words.
 */
export function jobTools(threads: number, readers: string): Toolset {
  const limit = ["-threads", String(threads)];
  return {
    ...NATIVE_TOOLS,
    video: {
      ...NATIVE_TOOLS.video,
      h265: addTo(NATIVE_TOOLS.video.h265, "-x265-params", `pools=${threads}`),
      av1: addTo(NATIVE_TOOLS.video.av1, "-svtav1-params", `lp=${threads}`),
    },
    small: {
      ...NATIVE_TOOLS.small,
      h265: addTo(NATIVE_TOOLS.small.h265, "-x265-params", `pools=${threads}`),
    },
    input: [
      ...NATIVE_TOOLS.input,
      ...["-protocol_whitelist", "http,tcp", "-format_whitelist", readers],
      // What the system holds for ffmpeg is lost with every jump in the file, and was read over the network.
      ...["-recv_buffer_size", "65536", ...limit],
    ],
    output: [...NATIVE_TOOLS.output, ...limit],
  };
}

function addTo(tool: Tool | undefined, name: string, params: string): Tool {
  if (!tool) throw new RangeError(`No encoder takes ${name}.`);
  return addParams(tool, name, params);
}
