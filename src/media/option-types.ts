// Written by `npm run docs:options` from the schemas of options.ts; a test compares.
import type { AutoQuality, Fit, Flip, Position, Quality, StepKind, Turn } from "./formats.ts";
import type {
  CodecOf,
  ConcatOption,
  CropOption,
  EncryptionOption,
  FontOption,
  ImageOverlayOption,
  ImageTextOption,
  OverlayOption,
  PartOption,
  SizeOption,
  SubtitleOption,
  TextOption,
  TransitionOption,
} from "./option-shapes.ts";
import type { MetadataMode } from "./tags.ts";

/** Options of the kind `probe`. */
export type ProbeOptions = {
  /**
   * Adds the ThumbHash of the picture, or of a frame of the video, which a page can show while the media loads.
   *
   * @default false
   */
  thumbhash?: boolean | undefined;
  /**
   * Adds the most frequent color of the picture, or of a frame of the video.
   *
   * @default false
   */
  dominant_color?: boolean | undefined;
  /**
   * Adds the times at which a copy of the video can start without an encode.
   *
   * @default false
   */
  entries?: boolean | undefined;
};

/** Options of the kind `ingest`: none. */
export type NoOptions = Record<string, never>;

/** Options of the kind `video`. */
export type VideoOptions = (
  | {
      /** The container. */
      format?: "mp4" | undefined;
      /** The codec of the pictures: mp4 holds h264, h265 or av1, webm holds vp9 or av1, mov holds h264 or h265. By default the first one of the format. */
      codec?: CodecOf<"mp4"> | undefined;
    }
  | {
      /** The container. */
      format: "webm";
      /** The codec of the pictures: mp4 holds h264, h265 or av1, webm holds vp9 or av1, mov holds h264 or h265. By default the first one of the format. */
      codec?: CodecOf<"webm"> | undefined;
    }
  | {
      /** The container. */
      format: "mov";
      /** The codec of the pictures: mp4 holds h264, h265 or av1, webm holds vp9 or av1, mov holds h264 or h265. By default the first one of the format. */
      codec?: CodecOf<"mov"> | undefined;
    }
) & {
  /**
   * `auto` encodes only what an option changes. `copy` encodes nothing: start moves back to a keyframe, and the output's cut says which span it contains, or its cuts say which spans if it has several parts. `smart` cuts at the exact picture: it copies whole groups of pictures and encodes only those around a cut.
   *
   * @default "auto"
   */
  mode?: "auto" | "copy" | "smart" | undefined;
  /**
   * Trades size for quality: very_low makes the smallest file, very_high the best picture or sound. It does not limit the size; a high quality can make a file larger than its source. auto makes the smallest file that looks the same: it measures samples at rates between very_low and high, and the output has the score and the chosen rate. It applies to the pictures only; sound is copied or encoded as by default.
   *
   * @default "medium"
   */
  quality?: AutoQuality | undefined;
  /**
   * Clockwise degrees by which the picture is turned, from the way players show it.
   *
   * @default 0
   */
  rotate?: Turn | undefined;
  /**
   * How to mirror the turned picture: left to right, top to bottom, or both.
   */
  flip?: Flip | undefined;
  /**
   * The part of the turned and mirrored picture that is kept, before it is scaled: the largest one of a ratio, placed by position, or a rectangle in displayed pixels or percentages.
   */
  crop?: CropOption | undefined;
  /**
   * Pixels, or a percentage of the displayed source such as "50%". One of width and height keeps the shape; both stretch the picture unless fit says otherwise, and either enlarges it unless enlarge is false. 1 to 16,384, 1% to 1,000%.
   */
  width?: SizeOption | undefined;
  /**
   * Pixels, or a percentage of the displayed source such as "50%". One of width and height keeps the shape; both stretch the picture unless fit says otherwise, and either enlarges it unless enlarge is false. 1 to 16,384, 1% to 1,000%.
   */
  height?: SizeOption | undefined;
  /**
   * Whether width and height may enlarge the picture; if false, neither side exceeds that of the turned and cropped source.
   *
   * @default true
   */
  enlarge?: boolean | undefined;
  /**
   * How a picture of another shape fills width and height, both of which must be set: contain adds bars, cover crops, fill stretches. By default contain with a background, otherwise fill.
   */
  fit?: Fit | undefined;
  /**
   * The position of the picture between its bars, or of the part that is kept.
   *
   * @default "center"
   */
  position?: Position | undefined;
  /**
   * Hex color of the bars, and behind transparent pictures in a format without transparency. Needs fit contain and both sides; 100% keeps each.
   */
  background?: string | undefined;
  /**
   * Frames per second; by default those of the source. 1 to 60.
   */
  fps?: number | undefined;
  /**
   * Bits per second; takes precedence over quality. 300,000 to 60,000,000.
   */
  bitrate?: number | undefined;
  /**
   * The maximum size of the file in bytes, in place of bitrate. The bitrate may be lower than the option bitrate allows, and never exceeds the source's. A source that is small enough is copied if no other option changes it; quality then concerns the encoded sound only. 1,000 to 1,000,000,000,000.
   */
  target_size?: number | undefined;
  /**
   * The codec of the sound: mp4 holds aac, mp3 or opus, webm holds opus or vorbis, mov holds aac or mp3. By default the first one of the format.
   */
  audio_codec?: "aac" | "mp3" | "opus" | "vorbis" | undefined;
  /**
   * Bits per second of the sound; by default those of quality. 32,000 to 320,000.
   */
  audio_bitrate?: number | undefined;
  /**
   * Sound track of the source: its index from 0, or a language such as en or eng. By default the one that players choose.
   */
  track?: number | string | undefined;
  /**
   * Number of audio channels; lossy formats hold 1 or 2. By default that of the source, in lossy formats at most 2. 1 to 8.
   */
  channels?: number | undefined;
  /**
   * Sample rate in hertz, which the format must support. By default that of the source, or the nearest supported one. 8,000 to 192,000.
   */
  sample_rate?: number | undefined;
  /**
   * Factor of the amplitude: 0.5 lowers the sound by 6 dB; 2 raises it by 6 dB and may clip. 0 to 10.
   *
   * @default 1
   */
  volume?: number | undefined;
  /**
   * Measures the loudness of the whole output by EBU R128 and sets it to target_lufs; peaks stay below -1 dBTP, with a limiter if necessary.
   *
   * @default false
   */
  normalize?: boolean | undefined;
  /**
   * Target loudness of normalize, in LUFS. -40 to -5.
   *
   * @default -16
   */
  target_lufs?: number | undefined;
  /**
   * Seconds in which the sound fades in at the start. 0 to 600.
   *
   * @default 0
   */
  fade_in?: number | undefined;
  /**
   * Seconds in which the sound fades out at the end. 0 to 600.
   *
   * @default 0
   */
  fade_out?: number | undefined;
  /**
   * Leaves the sound out.
   *
   * @default false
   */
  mute?: boolean | undefined;
  /**
   * Start of the output in the source, in seconds. 0 to 10,000,000.
   *
   * @default 0
   */
  start?: number | undefined;
  /**
   * End of the output in the source, in seconds; by default the end of the source. 0 to 10,000,000.
   */
  end?: number | undefined;
  /**
   * Playback speed as a factor: 2 plays in half the time. Voices keep their pitch; start and end are times of the source. 0.25 to 4.
   *
   * @default 1
   */
  speed?: number | undefined;
  /**
   * Removes noise from the pictures, and some fine detail with it; files become smaller.
   */
  denoise?: "light" | "medium" | "strong" | undefined;
  /**
   * A picture to lay over the video, such as a logo: PNG, JPEG, WebP that is not animated, BMP, TIFF, or GIF, of which the first frame counts.
   */
  overlay?: OverlayOption | undefined;
  /**
   * Texts to draw over the pictures, each with its position, size, color and box.
   */
  text?: TextOption[] | undefined;
  /**
   * Fonts for `text` and for burnt-in subtitles, tried in this order; the host's fonts supply the letters that all of them lack: DejaVu Sans, and Noto fonts of other scripts.
   */
  fonts?: FontOption[] | undefined;
  /**
   * Seconds over which the pictures fade in from black at the start. 0 to 600.
   *
   * @default 0
   */
  picture_fade_in?: number | undefined;
  /**
   * Seconds over which the pictures fade to black at the end. 0 to 600.
   *
   * @default 0
   */
  picture_fade_out?: number | undefined;
  /**
   * Up to 500 ranges of the source to play one after the other, in this order, instead of start and end. They may overlap and repeat.
   */
  parts?: PartOption[] | undefined;
  /**
   * Converts the intact part of an MP4 or MOV that is cut off; dropped then says cut_off. Other containers do not need it.
   *
   * @default false
   */
  partial?: boolean | undefined;
  /**
   * Up to nine videos that play after the input, in order. If their pictures match the input's, they are copied; otherwise all are encoded to its size, with bars, the highest of their frame rates and one channel layout.
   */
  concat?: ConcatOption[] | undefined;
  /**
   * Cross-fades pictures and sound between joined videos. They overlap, so each transition shortens the output by its seconds, rounded to whole pictures.
   */
  transition?: TransitionOption | undefined;
  /**
   * Files of subtitles that become text tracks after those of the source, or of which one is drawn into the pictures: SRT, WebVTT, ASS or SSA, in UTF-8, or in UTF-16 with a byte order mark. Their times count from the start of the source.
   */
  subtitles?: SubtitleOption[] | undefined;
  /**
   * Which tags and covers are kept: `keep` keeps all that the format can hold, `clean` all but location, device, software and other private data, `strip` none.
   *
   * @default "clean"
   */
  metadata?: MetadataMode | undefined;
};

/** Options of the kind `audio`. */
export type AudioOptions = {
  /**
   * The format.
   *
   * @default "mp3"
   */
  format?: "mp3" | "aac" | "ogg" | "opus" | "wav" | "flac" | undefined;
  /**
   * `auto` encodes only what an option changes. `copy` encodes nothing: start moves back and end moves on to the edge of a packet, and the output's cut says which span it contains.
   *
   * @default "auto"
   */
  mode?: "auto" | "copy" | undefined;
  /**
   * Trades size for quality: very_low makes the smallest file, very_high the best picture or sound. It does not limit the size; a high quality can make a file larger than its source.
   *
   * @default "medium"
   */
  quality?: Quality | undefined;
  /**
   * Bits per second; takes precedence over quality. Lossless formats ignore it. 32,000 to 320,000.
   */
  bitrate?: number | undefined;
  /**
   * Sound track of the source: its index from 0, or a language such as en or eng. By default the one that players choose.
   */
  track?: number | string | undefined;
  /**
   * Number of audio channels; lossy formats hold 1 or 2. By default that of the source, in lossy formats at most 2. 1 to 8.
   */
  channels?: number | undefined;
  /**
   * Sample rate in hertz, which the format must support. By default that of the source, or the nearest supported one. 8,000 to 192,000.
   */
  sample_rate?: number | undefined;
  /**
   * Factor of the amplitude: 0.5 lowers the sound by 6 dB; 2 raises it by 6 dB and may clip. 0 to 10.
   *
   * @default 1
   */
  volume?: number | undefined;
  /**
   * Measures the loudness of the whole output by EBU R128 and sets it to target_lufs; peaks stay below -1 dBTP, with a limiter if necessary.
   *
   * @default false
   */
  normalize?: boolean | undefined;
  /**
   * Target loudness of normalize, in LUFS. -40 to -5.
   *
   * @default -16
   */
  target_lufs?: number | undefined;
  /**
   * Seconds in which the sound fades in at the start. 0 to 600.
   *
   * @default 0
   */
  fade_in?: number | undefined;
  /**
   * Seconds in which the sound fades out at the end. 0 to 600.
   *
   * @default 0
   */
  fade_out?: number | undefined;
  /**
   * Start of the output in the source, in seconds. 0 to 10,000,000.
   *
   * @default 0
   */
  start?: number | undefined;
  /**
   * End of the output in the source, in seconds; by default the end of the source. 0 to 10,000,000.
   */
  end?: number | undefined;
  /**
   * Playback speed as a factor: 2 plays in half the time. Voices keep their pitch; start and end are times of the source. 0.25 to 4.
   *
   * @default 1
   */
  speed?: number | undefined;
  /**
   * Up to 500 ranges of the source to play one after the other, in this order, instead of start and end. They may overlap and repeat.
   */
  parts?: PartOption[] | undefined;
  /**
   * Converts the intact part of an MP4 or MOV that is cut off; dropped then says cut_off. Other containers do not need it.
   *
   * @default false
   */
  partial?: boolean | undefined;
  /**
   * Which tags and covers are kept: `keep` keeps all that the format can hold, `clean` all but location, device, software and other private data, `strip` none.
   *
   * @default "clean"
   */
  metadata?: MetadataMode | undefined;
};

/** Options of the kind `image`. */
export type ImageOptions = {
  /**
   * The format; by default the source's own if it is one of these, otherwise jpeg.
   */
  format?: "jpeg" | "png" | "webp" | "gif" | "avif" | undefined;
  /**
   * Trades size for quality: very_low makes the smallest file, very_high the best picture. It does not limit the size; a high quality can make a file larger than its source. auto makes the smallest file that looks the same: it measures trials between very_low and high, and the output has the score and the chosen rate.
   *
   * @default "medium"
   */
  quality?: AutoQuality | undefined;
  /**
   * Clockwise degrees by which the picture is turned, from the way players show it.
   *
   * @default 0
   */
  rotate?: Turn | undefined;
  /**
   * How to mirror the turned picture: left to right, top to bottom, or both.
   */
  flip?: Flip | undefined;
  /**
   * The part of the turned and mirrored picture that is kept, before it is scaled: the largest one of a ratio, placed by position, or a rectangle in displayed pixels or percentages.
   */
  crop?: CropOption | undefined;
  /**
   * Pixels, or a percentage of the displayed source such as "50%". One of width and height keeps the shape; both stretch the picture unless fit says otherwise, and either enlarges it unless enlarge is false. 1 to 16,384, 1% to 1,000%.
   */
  width?: SizeOption | undefined;
  /**
   * Pixels, or a percentage of the displayed source such as "50%". One of width and height keeps the shape; both stretch the picture unless fit says otherwise, and either enlarges it unless enlarge is false. 1 to 16,384, 1% to 1,000%.
   */
  height?: SizeOption | undefined;
  /**
   * Whether width and height may enlarge the picture; if false, neither side exceeds that of the turned and cropped source.
   *
   * @default true
   */
  enlarge?: boolean | undefined;
  /**
   * How a picture of another shape fills width and height, both of which must be set: contain adds bars, cover crops, fill stretches. By default contain with a background, otherwise fill.
   */
  fit?: Fit | undefined;
  /**
   * The position of the picture between its bars, or of the part that is kept.
   *
   * @default "center"
   */
  position?: Position | undefined;
  /**
   * Hex color of the bars, and behind transparent pictures in a format without transparency. Needs fit contain and both sides; 100% keeps each.
   */
  background?: string | undefined;
  /**
   * Time of the frame in seconds, for a video input. 0 to 10,000,000.
   *
   * @default 0
   */
  start?: number | undefined;
  /**
   * The maximum size of the file in bytes: the quality is lowered as far as necessary, down to very_low, then the size in pixels. PNG and GIF have no quality, so only their size in pixels is lowered. 200 to 1,000,000,000.
   */
  max_bytes?: number | undefined;
  /**
   * Removes noise from the pictures, and some fine detail with it; files become smaller.
   */
  denoise?: "light" | "medium" | "strong" | undefined;
  /**
   * A picture to lay over the image, such as a logo: PNG, JPEG, WebP that is not animated, BMP, TIFF, or GIF, of which the first frame counts.
   */
  overlay?: ImageOverlayOption | undefined;
  /**
   * Texts to draw over the pictures, each with its position, size, color and box.
   */
  text?: ImageTextOption[] | undefined;
  /**
   * Fonts for `text` and for burnt-in subtitles, tried in this order; the host's fonts supply the letters that all of them lack: DejaVu Sans, and Noto fonts of other scripts.
   */
  fonts?: FontOption[] | undefined;
  /**
   * Converts the intact part of an MP4 or MOV that is cut off; dropped then says cut_off. Other containers do not need it.
   *
   * @default false
   */
  partial?: boolean | undefined;
  /**
   * Seconds between stills of a video, each a file; the first is at start. 0.1 to 3,600.
   */
  interval?: number | undefined;
  /**
   * Number of evenly spaced stills of a video, each a file; the first is at start. 1 to 500.
   */
  count?: number | undefined;
};

/** Options of the kind `animation`. */
export type AnimationOptions = {
  /**
   * The format.
   *
   * @default "gif"
   */
  format?: "gif" | "webp" | "avif" | undefined;
  /**
   * Trades size for quality: very_low makes the smallest file, very_high the best picture. It does not limit the size; a high quality can make a file larger than its source. auto makes the smallest file that looks the same: it measures trials between very_low and high, and the output has the score and the chosen rate.
   *
   * @default "medium"
   */
  quality?: AutoQuality | undefined;
  /**
   * Clockwise degrees by which the picture is turned, from the way players show it.
   *
   * @default 0
   */
  rotate?: Turn | undefined;
  /**
   * How to mirror the turned picture: left to right, top to bottom, or both.
   */
  flip?: Flip | undefined;
  /**
   * The part of the turned and mirrored picture that is kept, before it is scaled: the largest one of a ratio, placed by position, or a rectangle in displayed pixels or percentages.
   */
  crop?: CropOption | undefined;
  /**
   * Pixels, or a percentage of the displayed source such as "50%". One of width and height keeps the shape; both stretch the picture unless fit says otherwise, and either enlarges it unless enlarge is false. 1 to 16,384, 1% to 1,000%.
   */
  width?: SizeOption | undefined;
  /**
   * Pixels, or a percentage of the displayed source such as "50%". One of width and height keeps the shape; both stretch the picture unless fit says otherwise, and either enlarges it unless enlarge is false. 1 to 16,384, 1% to 1,000%.
   */
  height?: SizeOption | undefined;
  /**
   * Whether width and height may enlarge the picture; if false, neither side exceeds that of the turned and cropped source.
   *
   * @default true
   */
  enlarge?: boolean | undefined;
  /**
   * How a picture of another shape fills width and height, both of which must be set: contain adds bars, cover crops, fill stretches. By default contain with a background, otherwise fill.
   */
  fit?: Fit | undefined;
  /**
   * The position of the picture between its bars, or of the part that is kept.
   *
   * @default "center"
   */
  position?: Position | undefined;
  /**
   * Hex color of the bars, and behind transparent pictures in a format without transparency. Needs fit contain and both sides; 100% keeps each.
   */
  background?: string | undefined;
  /**
   * Frames per second. By default 12, fewer for a slower video, and the original times for an animated picture. 1 to 50.
   */
  fps?: number | undefined;
  /**
   * How many times the animation plays; 0 plays it forever. 0 to 65,535.
   *
   * @default 0
   */
  loop?: number | undefined;
  /**
   * Start of the output in the source, in seconds. 0 to 10,000,000.
   *
   * @default 0
   */
  start?: number | undefined;
  /**
   * End of the output in the source, in seconds; by default the end of the source. 0 to 10,000,000.
   */
  end?: number | undefined;
  /**
   * Texts to draw over the pictures, each with its position, size, color and box.
   */
  text?: TextOption[] | undefined;
  /**
   * Fonts for `text` and for burnt-in subtitles, tried in this order; the host's fonts supply the letters that all of them lack: DejaVu Sans, and Noto fonts of other scripts.
   */
  fonts?: FontOption[] | undefined;
  /**
   * Seconds over which the pictures fade in from black at the start. 0 to 600.
   *
   * @default 0
   */
  picture_fade_in?: number | undefined;
  /**
   * Seconds over which the pictures fade to black at the end. 0 to 600.
   *
   * @default 0
   */
  picture_fade_out?: number | undefined;
  /**
   * Up to 500 ranges of the source to play one after the other, in this order, instead of start and end. They may overlap and repeat.
   */
  parts?: PartOption[] | undefined;
  /**
   * Converts the intact part of an MP4 or MOV that is cut off; dropped then says cut_off. Other containers do not need it.
   *
   * @default false
   */
  partial?: boolean | undefined;
};

/** Options of the kind `storyboard`. */
export type StoryboardOptions = {
  /**
   * The format of the sheets.
   *
   * @default "jpeg"
   */
  format?: "jpeg" | "webp" | undefined;
  /**
   * Trades size for quality: very_low makes the smallest file, very_high the best picture or sound. It does not limit the size; a high quality can make a file larger than its source.
   *
   * @default "medium"
   */
  quality?: Quality | undefined;
  /**
   * Width of a tile in pixels, or as a percentage of the displayed source. 1 to 16,384, 1% to 1,000%.
   *
   * @default 160
   */
  width?: SizeOption | undefined;
  /**
   * Seconds between tiles; by default a hundredth of the duration, from 1 to 10. 0.1 to 3,600.
   */
  interval?: number | undefined;
  /**
   * Number of tiles across a sheet. 1 to 20.
   *
   * @default 5
   */
  columns?: number | undefined;
  /**
   * Number of tiles down a sheet. 1 to 20.
   *
   * @default 5
   */
  rows?: number | undefined;
  /**
   * Start of the output in the source, in seconds. 0 to 10,000,000.
   *
   * @default 0
   */
  start?: number | undefined;
  /**
   * End of the output in the source, in seconds; by default the end of the source. 0 to 10,000,000.
   */
  end?: number | undefined;
  /**
   * Converts the intact part of an MP4 or MOV that is cut off; dropped then says cut_off. Other containers do not need it.
   *
   * @default false
   */
  partial?: boolean | undefined;
};

/** Options of the kind `waveform`. */
export type WaveformOptions = {
  /**
   * The format: peaks as audiowaveform's JSON or binary data (.dat), version 2, or a picture of them.
   *
   * @default "json"
   */
  format?: "json" | "dat" | "png" | undefined;
  /**
   * Samples of each channel that a point represents. By default 256; for a picture, as many as make it show the whole. 2 to 10,000,000.
   */
  samples_per_pixel?: number | undefined;
  /**
   * Points per second of sound, in place of samples_per_pixel. 1 to 24,000.
   */
  pixels_per_second?: number | undefined;
  /**
   * Maximum number of points for the whole, in place of samples_per_pixel. 1 to 1,000,000.
   */
  points?: number | undefined;
  /**
   * Bits of a peak in JSON and .dat.
   *
   * @default 16
   */
  bits?: 8 | 16 | undefined;
  /**
   * Writes the peaks of each channel, instead of those of their mean.
   *
   * @default false
   */
  split_channels?: boolean | undefined;
  /**
   * Sound track of the source: its index from 0, or a language such as en or eng. By default the one that players choose.
   */
  track?: number | string | undefined;
  /**
   * Start of the output in the source, in seconds. 0 to 10,000,000.
   *
   * @default 0
   */
  start?: number | undefined;
  /**
   * End of the output in the source, in seconds; by default the end of the source. 0 to 10,000,000.
   */
  end?: number | undefined;
  /**
   * Width of a PNG in pixels; each pixel is a point. 1 to 16,384.
   *
   * @default 800
   */
  width?: number | undefined;
  /**
   * Height of a PNG in pixels. 1 to 16,384.
   *
   * @default 250
   */
  height?: number | undefined;
  /**
   * Hex color of a PNG's waveform.
   *
   * @default "#3f4d9b"
   */
  waveform_color?: string | undefined;
  /**
   * Hex color behind it; "#0000" is transparent.
   *
   * @default "#d6d6d6"
   */
  background_color?: string | undefined;
  /**
   * Converts the intact part of an MP4 or MOV that is cut off; dropped then says cut_off. Other containers do not need it.
   *
   * @default false
   */
  partial?: boolean | undefined;
};

/** Options of the kind `adaptive_video`. */
export type AdaptiveVideoOptions = {
  /**
   * The kind of stream: HLS, DASH, or both from the same segments, with manifest.mpd beside master.m3u8.
   *
   * @default "hls"
   */
  format?: "hls" | "dash" | "hls_dash" | undefined;
  /**
   * Adds an I-frame playlist to each rendition of HLS, with a picture every six seconds that players show while a viewer seeks.
   *
   * @default false
   */
  i_frames?: boolean | undefined;
  /**
   * Encrypts the segments of HLS with your own key; the playlists name the URL from which players get it.
   */
  encryption?: EncryptionOption | undefined;
  /**
   * How the renditions are chosen. fixed makes one for each usual size, all of the same quality. auto encodes samples of the video in each size, at quality and at each level below it down to low, and keeps the renditions that are worth their bytes, so that simple pictures get fewer and smaller ones. Each then has a score.
   *
   * @default "fixed"
   */
  ladder?: "fixed" | "auto" | undefined;
  /**
   * Trades size for quality: very_low makes the smallest file, very_high the best picture or sound. It does not limit the size; a high quality can make a file larger than its source.
   *
   * @default "medium"
   */
  quality?: Quality | undefined;
  /**
   * Clockwise degrees by which the picture is turned, from the way players show it.
   *
   * @default 0
   */
  rotate?: Turn | undefined;
  /**
   * How to mirror the turned picture: left to right, top to bottom, or both.
   */
  flip?: Flip | undefined;
  /**
   * The part of the turned and mirrored picture that is kept, before it is scaled: the largest one of a ratio, placed by position, or a rectangle in displayed pixels or percentages.
   */
  crop?: CropOption | undefined;
  /**
   * Pixels, or a percentage of the displayed source such as "50%". One of width and height keeps the shape; both stretch the picture unless fit says otherwise, and either enlarges it unless enlarge is false. 1 to 16,384, 1% to 1,000%.
   */
  width?: SizeOption | undefined;
  /**
   * Pixels, or a percentage of the displayed source such as "50%". One of width and height keeps the shape; both stretch the picture unless fit says otherwise, and either enlarges it unless enlarge is false. 1 to 16,384, 1% to 1,000%.
   */
  height?: SizeOption | undefined;
  /**
   * Whether width and height may enlarge the picture; if false, neither side exceeds that of the turned and cropped source.
   *
   * @default true
   */
  enlarge?: boolean | undefined;
  /**
   * How a picture of another shape fills width and height, both of which must be set: contain adds bars, cover crops, fill stretches. By default contain with a background, otherwise fill.
   */
  fit?: Fit | undefined;
  /**
   * The position of the picture between its bars, or of the part that is kept.
   *
   * @default "center"
   */
  position?: Position | undefined;
  /**
   * Hex color of the bars, and behind transparent pictures in a format without transparency. Needs fit contain and both sides; 100% keeps each.
   */
  background?: string | undefined;
  /**
   * The only sound track to keep: its index from 0, or a language such as en or eng. By default all are kept, each with its language.
   */
  track?: number | string | undefined;
  /**
   * Number of audio channels; lossy formats hold 1 or 2. By default that of the source, in lossy formats at most 2. 1 to 8.
   */
  channels?: number | undefined;
  /**
   * Sample rate in hertz, which the format must support. By default that of the source, or the nearest supported one. 8,000 to 192,000.
   */
  sample_rate?: number | undefined;
  /**
   * Factor of the amplitude: 0.5 lowers the sound by 6 dB; 2 raises it by 6 dB and may clip. 0 to 10.
   *
   * @default 1
   */
  volume?: number | undefined;
  /**
   * Measures the loudness of the whole output by EBU R128 and sets it to target_lufs; peaks stay below -1 dBTP, with a limiter if necessary.
   *
   * @default false
   */
  normalize?: boolean | undefined;
  /**
   * Target loudness of normalize, in LUFS. -40 to -5.
   *
   * @default -16
   */
  target_lufs?: number | undefined;
  /**
   * Seconds in which the sound fades in at the start. 0 to 600.
   *
   * @default 0
   */
  fade_in?: number | undefined;
  /**
   * Seconds in which the sound fades out at the end. 0 to 600.
   *
   * @default 0
   */
  fade_out?: number | undefined;
  /**
   * Leaves the sound out.
   *
   * @default false
   */
  mute?: boolean | undefined;
  /**
   * Start of the output in the source, in seconds. 0 to 10,000,000.
   *
   * @default 0
   */
  start?: number | undefined;
  /**
   * End of the output in the source, in seconds; by default the end of the source. 0 to 10,000,000.
   */
  end?: number | undefined;
  /**
   * Fonts for `text` and for burnt-in subtitles, tried in this order; the host's fonts supply the letters that all of them lack: DejaVu Sans, and Noto fonts of other scripts.
   */
  fonts?: FontOption[] | undefined;
  /**
   * Seconds over which the pictures fade in from black at the start. 0 to 600.
   *
   * @default 0
   */
  picture_fade_in?: number | undefined;
  /**
   * Seconds over which the pictures fade to black at the end. 0 to 600.
   *
   * @default 0
   */
  picture_fade_out?: number | undefined;
  /**
   * Up to 500 ranges of the source to play one after the other, in this order, instead of start and end. They may overlap and repeat.
   */
  parts?: PartOption[] | undefined;
  /**
   * Converts the intact part of an MP4 or MOV that is cut off; dropped then says cut_off. Other containers do not need it.
   *
   * @default false
   */
  partial?: boolean | undefined;
  /**
   * The codecs of the renditions: h264, which is required, and h265 (or hevc), av1 or both. Every size is encoded in each codec, and players choose the best that they can decode. Only native ffmpeg encodes more than H.264.
   *
   * @default ["h264"]
   */
  codecs?: ("h264" | "h265" | "hevc" | "av1")[] | undefined;
  /**
   * Files of subtitles that become text tracks after those of the source, or of which one is drawn into the pictures: SRT, WebVTT, ASS or SSA, in UTF-8, or in UTF-16 with a byte order mark. Their times count from the start of the source.
   */
  subtitles?: SubtitleOption[] | undefined;
};

/** Options of the kind `upload`. */
export type UploadOptions = {
  /**
   * Destination, `s3://<bucket>/<key>`.
   */
  url: string;
  /**
   * Id of a stored connection; by default the default connection.
   */
  connection_id?: string | undefined;
};

interface OptionTypes {
  probe: ProbeOptions;
  ingest: NoOptions;
  video: VideoOptions;
  audio: AudioOptions;
  image: ImageOptions;
  animation: AnimationOptions;
  storyboard: StoryboardOptions;
  waveform: WaveformOptions;
  adaptive_video: AdaptiveVideoOptions;
  upload: UploadOptions;
}

/** The options of a kind. */
export type OptionsOf<K extends StepKind> = OptionTypes[K];
