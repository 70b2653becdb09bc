import type { EncodeKind } from "../../src/index.ts";

export const KIND_WORDS = {
  video: "Video",
  audio: "Audio",
  image: "Picture",
  animation: "Animation",
  storyboard: "Storyboard",
  waveform: "Waveform",
  adaptive_video: "Stream for a website",
} as const satisfies Record<EncodeKind, string>;

// Short enough for a select on a phone.
export const FORMAT_USES: Readonly<Record<string, string>> = {
  mp4: "plays everywhere",
  webm: "open, for websites",
  mov: "for Apple apps",
  mp3: "plays everywhere",
  aac: "a little better than MP3",
  ogg: "open format",
  opus: "best in small files",
  wav: "lossless, large",
  flac: "lossless, smaller",
  jpeg: "photos, opens everywhere",
  png: "lossless",
  webp: "smaller than JPEG",
  gif: "animations, 256 colors",
  avif: "smallest, for newer apps",
  json: "peaks for web players",
  dat: "the same, smaller",
  hls: "Safari, most players",
  dash: "dash.js, Shaka, TVs",
  hls_dash: "for all players",
};

export const CODEC_USES: Readonly<Record<string, string>> = {
  h264: "plays everywhere",
  h265: "smaller, newer devices",
  vp9: "smaller, for browsers",
  av1: "smallest, takes longest",
};
