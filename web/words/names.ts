import { containerOf } from "../../src/media/containers.ts";

const FORMATS: Readonly<Record<string, string>> = {
  hls: "HLS",
  dash: "DASH",
  hls_dash: "HLS and DASH",
};

const CODECS: Readonly<Record<string, string>> = {
  h264: "H.264",
  h265: "H.265",
  hevc: "H.265",
  vp8: "VP8",
  vp9: "VP9",
  av1: "AV1",
  mpeg1video: "MPEG-1",
  mpeg2video: "MPEG-2",
  mpeg4: "MPEG-4",
  prores: "ProRes",
  mjpeg: "Motion JPEG",
  aac: "AAC",
  mp3: "MP3",
  mp2: "MP2",
  opus: "Opus",
  vorbis: "Vorbis",
  flac: "FLAC",
  alac: "ALAC",
  ac3: "AC-3",
  eac3: "E-AC-3",
  dts: "DTS",
};

/** Returns the common spelling of a container format, such as `matroska`. */
export function formatName(format: string): string {
  return FORMATS[format] ?? containerOf({ format }).label ?? format.toUpperCase();
}

/** Returns the common spelling of a codec, such as `h264`; all variants of PCM share one. */
export function codecName(codec: string): string {
  return codec.startsWith("pcm_") ? "PCM" : (CODECS[codec] ?? codec.toUpperCase());
}

/** Returns the English name of a language, or its code where that is unknown. */
export function languageName(language: string): string {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(language) ?? language;
  } catch {
    return language;
  }
}
