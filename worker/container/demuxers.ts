import { containerOf } from "../../src/media/containers.ts";
import { errors } from "./errors.ts";

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
