import type { EncodeKind, MetadataMode, Position, Quality } from "../../src/index.ts";

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

/** The name of each quality level, and what it is good for. */
export const QUALITY_WORDS = {
  very_low: ["Lowest", "For a quick preview: losses are obvious."],
  low: ["Low", "Small; fine detail suffers."],
  medium: ["Medium", "Right for most uses: losses are hardly noticeable."],
  high: ["High", "Losses show only in a side-by-side comparison."],
  very_high: ["Highest", "Close to the original, and large."],
} as const satisfies Record<Quality, readonly [name: string, use: string]>;

/** What happens to tags and cover, and what that is good for. */
export const METADATA_WORDS = {
  clean: ["Keep, except private data", "Keeps title, artist and cover; removes location and device."],
  keep: ["Keep all", "Keeps location and device too, where the format supports them."],
  strip: ["Remove", "Removes all tags and the cover."],
} as const satisfies Record<MetadataMode, readonly [name: string, use: string]>;

export const POSITION_WORDS = {
  center: "Center",
  top: "Top",
  bottom: "Bottom",
  left: "Left",
  right: "Right",
  "top-left": "Top left",
  "top-right": "Top right",
  "bottom-left": "Bottom left",
  "bottom-right": "Bottom right",
} as const satisfies Record<Position, string>;
