/** Facts of every output format: MIME type, file extension, whether it is lossless or can hold transparency, and its codecs, the default first. */
export const FORMATS = {
  video: {
    mp4: { mime: "video/mp4", extension: "mp4", codecs: ["h264", "h265", "av1"], audio: "aac" },
    webm: { mime: "video/webm", extension: "webm", codecs: ["vp9", "av1"], audio: "opus", alpha: true },
    mov: { mime: "video/quicktime", extension: "mov", codecs: ["h264", "h265"], audio: "aac" },
  },
  audio: {
    mp3: { mime: "audio/mpeg", extension: "mp3", codec: "mp3" },
    aac: { mime: "audio/aac", extension: "aac", codec: "aac" },
    ogg: { mime: "audio/ogg", extension: "ogg", codec: "vorbis" },
    opus: { mime: "audio/ogg; codecs=opus", extension: "opus", codec: "opus" },
    wav: { mime: "audio/wav", extension: "wav", codec: "pcm_s16le", lossless: true },
    flac: { mime: "audio/flac", extension: "flac", codec: "flac", lossless: true },
  },
  image: {
    jpeg: { mime: "image/jpeg", extension: "jpg", alpha: false, animated: false },
    png: { mime: "image/png", extension: "png", alpha: true, animated: false, lossless: true },
    webp: { mime: "image/webp", extension: "webp", alpha: true, animated: true },
    gif: { mime: "image/gif", extension: "gif", alpha: true, animated: true },
    avif: { mime: "image/avif", extension: "avif", alpha: true, animated: false },
  },
  animation: {
    gif: { mime: "image/gif", extension: "gif", alpha: true },
    webp: { mime: "image/webp", extension: "webp", alpha: true },
    avif: { mime: "image/avif", extension: "avif", alpha: true },
  },
  storyboard: {
    jpeg: { mime: "image/jpeg", extension: "jpg" },
    webp: { mime: "image/webp", extension: "webp", alpha: true },
  },
  waveform: {
    json: { mime: "application/json", extension: "json" },
    dat: { mime: "application/octet-stream", extension: "dat" },
    png: { mime: "image/png", extension: "png", drawn: true },
  },
  adaptive_video: {
    // The last manifest is the main one.
    hls: {
      mime: "application/vnd.apple.mpegurl",
      extension: "m3u8",
      manifests: ["master.m3u8"],
      hls: true,
      dash: false,
    },
    dash: {
      mime: "application/dash+xml",
      extension: "mpd",
      manifests: ["manifest.mpd"],
      hls: false,
      dash: true,
    },
    hls_dash: {
      mime: "application/vnd.apple.mpegurl",
      extension: "m3u8",
      manifests: ["manifest.mpd", "master.m3u8"],
      hls: true,
      dash: true,
    },
  },
} as const;

/** Returns whether an output format of a kind keeps every sample or pixel, so that it has no bitrate to choose. */
export function isLosslessFormat(kind: EncodeKind, format: string): boolean {
  const facts = (FORMATS[kind] as Readonly<Record<string, object>>)[format];
  return facts !== undefined && "lossless" in facts;
}

/** Returns whether a waveform in a format is a picture, not data. */
export function isDrawnWaveform(format: string = DEFAULT_FORMAT.waveform): boolean {
  const facts: object | undefined = FORMATS.waveform[format as WaveformFormat];
  return facts !== undefined && "drawn" in facts;
}

/** Returns whether an output format has DASH manifests. */
export function hasDash(format: string): boolean {
  return FORMATS.adaptive_video[format as AdaptiveFormat]?.dash === true;
}

/** Returns whether an output format has only DASH manifests, which HLS players cannot read. */
export function lacksHls(format: string): boolean {
  return FORMATS.adaptive_video[format as AdaptiveFormat]?.hls === false;
}

/** The codecs that a WAV can hold, the default first. */
export const WAV_CODECS = ["pcm_s16le", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_f64le"] as const;

/** The kinds of a task, which are also the kinds of its encode step. */
export const ENCODE_KINDS = [
  "video",
  "audio",
  "image",
  "animation",
  "storyboard",
  "waveform",
  "adaptive_video",
] as const;
/** The kinds of a step. */
export const STEP_KINDS = ["probe", "ingest", ...ENCODE_KINDS, "upload"] as const;

/** The kind of a task, or of an encode step. */
export type EncodeKind = (typeof ENCODE_KINDS)[number];
/** The kind of a step. */
export type StepKind = (typeof STEP_KINDS)[number];
/** An output format of `video`. */
export type VideoFormat = keyof (typeof FORMATS)["video"];
/** An output format of `audio`. */
export type AudioFormat = keyof (typeof FORMATS)["audio"];
/** An output format of `image`. */
export type ImageFormat = keyof (typeof FORMATS)["image"];
/** An output format of `animation`. */
export type AnimationFormat = keyof (typeof FORMATS)["animation"];
/** An output format of `storyboard`. */
export type StoryboardFormat = keyof (typeof FORMATS)["storyboard"];
/** An output format of `waveform`. */
export type WaveformFormat = keyof (typeof FORMATS)["waveform"];
/** An output format of `adaptive_video`. */
export type AdaptiveFormat = keyof (typeof FORMATS)["adaptive_video"];
/** A video codec that Framewright writes. */
export type VideoCodec = (typeof FORMATS)["video"][VideoFormat]["codecs"][number];
/** An audio codec that Framewright writes. */
export type AudioCodec = (typeof FORMATS)["audio"][AudioFormat]["codec"] | (typeof WAV_CODECS)[number];

/** The video codecs that Framewright writes. */
export const VIDEO_CODECS = ["h264", "h265", "vp9", "av1"] as const satisfies readonly VideoCodec[];
/** The default format of each kind; an image keeps the format of its source if Framewright can write it. */
export const DEFAULT_FORMAT = {
  video: "mp4",
  audio: "mp3",
  image: "jpeg",
  animation: "gif",
  storyboard: "jpeg",
  waveform: "json",
  adaptive_video: "hls",
} as const;

/** The formats in which hosts pass on pictures and sound without loss. */
export const LOSSLESS_FORMAT = { image: "png", audio: "wav" } as const;

/** Whether media is encoded when an option needs it, or always copied. */
export const COPY_MODES = ["auto", "copy"] as const;
/** The modes of a video: `smart` encodes only around cuts. */
export const VIDEO_MODES = [...COPY_MODES, "smart"] as const;
/** The audio codecs that each video format can hold, the default first. */
export const SOUND_CODECS = {
  mp4: ["aac", "mp3", "opus"],
  webm: ["opus", "vorbis"],
  mov: ["aac", "mp3"],
} as const satisfies Record<VideoFormat, readonly AudioCodec[]>;

/** Steps of quality from smallest file to best picture. */
export const QUALITIES = ["very_low", "low", "medium", "high", "very_high"] as const;
/** How a picture fills a box of another shape: bars, crop, or stretch. */
export const FITS = ["contain", "cover", "fill"] as const;
/** The position of a picture in its box, or the part of it that is kept. */
export const POSITIONS = [
  "center",
  "top",
  "bottom",
  "left",
  "right",
  "top-left",
  "top-right",
  "bottom-left",
  "bottom-right",
] as const;

/** Each position's share of the free space to its left and above it. */
export const ANCHORS = {
  center: [0.5, 0.5],
  top: [0.5, 0],
  bottom: [0.5, 1],
  left: [0, 0.5],
  right: [1, 0.5],
  "top-left": [0, 0],
  "top-right": [1, 0],
  "bottom-left": [0, 1],
  "bottom-right": [1, 1],
} as const satisfies Record<Position, readonly [left: number, top: number]>;

/** Clockwise degrees by which a picture can be rotated. */
export const TURNS = [0, 90, 180, 270] as const;
/** How a picture may be mirrored: left to right, top to bottom, or both, which is half a turn. */
export const FLIPS = ["horizontal", "vertical", "both"] as const;

/** A step of quality. */
export type Quality = (typeof QUALITIES)[number];
/** A quality level, or `auto` for the smallest file that looks the same. */
export type AutoQuality = Quality | "auto";
/** Clockwise degrees by which a picture can be rotated. */
export type Turn = (typeof TURNS)[number];
/** How a picture may be mirrored. */
export type Flip = (typeof FLIPS)[number];
/** How a picture fills a box of another shape. */
export type Fit = (typeof FITS)[number];
/** Where a picture is placed in its box. */
export type Position = (typeof POSITIONS)[number];

/** Inclusive bounds of the numeric options: frames per second, bits per second, bytes, pixels, percent, seconds, hertz, LUFS. */
export const BOUNDS = {
  fps: { min: 1, max: 60 },
  // Browsers slow down a GIF whose frames are shorter than 0.02 s.
  animation_fps: { min: 1, max: 50 },
  interval: { min: 0.1, max: 3600 },
  tiles: { min: 1, max: 20 },
  stills: { min: 1, max: 500 },
  storyboard_tiles: { max: 10_000 },
  sheets: { max: 500 },
  samples_per_pixel: { min: 2, max: 10_000_000 },
  pixels_per_second: { min: 1, max: 24_000 },
  points: { min: 1, max: 1_000_000 },
  loop: { min: 0, max: 65_535 },
  video_bitrate: { min: 300_000, max: 60_000_000 },
  audio_bitrate: { min: 32_000, max: 320_000 },
  track: { max: 1_000 },
  subtitles: { max: 16 },
  label: { max: 100 },
  text: { min: 1, max: 500 },
  texts: { max: 20 },
  fonts: { max: 8 },
  channels: { min: 1, max: 8 },
  sample_rate: { min: 8_000, max: 192_000 },
  volume: { min: 0, max: 10 },
  opacity: { min: 0, max: 1 },
  speed: { min: 0.25, max: 4 },
  // loudnorm accepts more, but above -5 the limiter flattens speech and music.
  target_lufs: { min: -40, max: -5 },
  fade: { min: 0, max: 600 },
  transition: { min: 0.1, max: 60 },
  target_size: { min: 1_000, max: 1_000_000_000_000 },
  image_bytes: { min: 200, max: 1_000_000_000 },
  pixels: { min: 1, max: 16_384 },
  percent: { min: 1, max: 1_000 },
  seconds: { min: 0, max: 10_000_000 },
  url_length: { max: 8_192 },
  metadata_bytes: { max: 16_384 },
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html
  s3_key_bytes: { max: 1_024 },
} as const;

/** Longest side of a WebP in pixels. */
export const WEBP_MAX_SIDE = 16_383;

/** Default frames per second and width in pixels of an animation; never more than the source's. */
export const ANIMATION_DEFAULTS = { fps: 12, width: 480 } as const;

/**
 * Defaults of a storyboard: width of a tile in pixels, tiles across and down a sheet, and the approximate number of tiles, within
 * bounds of the seconds between them.
 */
export const STORYBOARD_DEFAULTS = {
  width: 160,
  columns: 5,
  rows: 5,
  tiles: 100,
  interval: { min: 1, max: 10 },
} as const;

/** The formats of a series of stills. */
export const STILL_FORMATS = ["jpeg", "png", "webp"] as const satisfies readonly ImageFormat[];

/** Defaults of a waveform, as in audiowaveform: samples per point, bits per peak, and the size and colors of a picture. */
export const WAVEFORM_DEFAULTS = {
  samples_per_pixel: 256,
  bits: 16,
  width: 800,
  height: 250,
  waveform_color: "#3f4d9b",
  background_color: "#d6d6d6",
} as const;

/** URL schemes of a task's input. */
export const INPUT_SCHEMES = ["http:", "https:", "s3:"] as const;
