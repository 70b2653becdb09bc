import { MediaError } from "../../src/core/errors.ts";

// ffmpeg's readers of a format, where its name is not simply the format's.
const READERS: Readonly<Record<string, string>> = {
  mp4: "mov",
  mov: "mov",
  avif: "mov",
  heic: "mov",
  webm: "matroska",
  matroska: "matroska",
  // What ffmpeg takes a file for may hang on its first bytes alone, where formats are close to each other.
  mpeg: "mpeg,mpegts,mpegvideo",
  mpegts: "mpegts,mpeg",
  mp3: "mp3,aac",
  aac: "aac,mp3",
  wav: "wav,w64",
  h265: "hevc",
  jpeg: "jpeg_pipe,mjpeg,image2",
  jpegls: "jpegls_pipe",
  png: "png_pipe,apng",
  gif: "gif,gif_pipe",
};

// Readers that open other files, devices or the network, or make pictures of text.
const REFUSED =
  /^(applehttp|avisynth|bin|concat|dash|ffmetadata|hls|image2|imf|lavfi|rtp|rtsp|sap|sdp|tty|vapoursynth|vobsub|webm_dash_manifest|xbin|adf|idf)$/;

/** Returns the demuxers that ffmpeg may use on a source of a format; throws `input_unsupported` for formats that are lists of other files. */
export function readersOf(format: string): string {
  if (REFUSED.test(format) || !/^\w+$/.test(format)) {
    throw new MediaError("input_unsupported", `Sources of the format ${format} are not read here.`);
  }
  return READERS[format] ?? `${format},${format}_pipe`;
}
