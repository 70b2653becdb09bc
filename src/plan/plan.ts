import type { AudioCodec, EncodeKind, VideoCodec } from "../core/formats.ts";
import type { Tags } from "../core/tags.ts";

/** How a stored picture becomes the output picture; the steps apply in the order of the fields. */
export interface Geometry {
  /** Clockwise degrees by which the decoded picture is turned first. */
  rotate: 0 | 90 | 180 | 270;
  /** Part of the turned picture that is kept (fit cover), in stored pixels after turning; null keeps all. */
  crop: { x: number; y: number; width: number; height: number } | null;
  /** Size to scale to; square pixels from here on. Null when nothing needs scaling. */
  scale: { width: number; height: number } | null;
  /** Bars around the scaled picture (fit contain): the whole canvas, where the picture sits, and a color as `0xRRGGBB` or `0xRRGGBBAA`; null for none. */
  pad: { width: number; height: number; x: number; y: number; color: string } | null;
  /** Width of the output picture in pixels. */
  width: number;
  /** Height of the output picture in pixels. */
  height: number;
}

/** Constant quality in the codec's own scale, or an average bitrate in bits per second. */
export type Rate = { crf: number; maxrate?: number } | { bitrate: number };

/** What is done with the video stream. */
export type VideoPlan =
  | { mode: "copy"; codec: string; width: number; height: number }
  | {
      mode: "encode";
      codec: VideoCodec;
      geometry: Geometry;
      rate: Rate;
      /** Frames per second of the output; null keeps the source's timing. */
      fps: number | null;
      deinterlace: boolean;
      /** HDR to SDR. */
      tone_map: boolean;
      /** Bits per component: 10 where the codec keeps an HDR source as HDR, else 8. */
      depth: 8 | 10;
      /** Color, as `0xRRGGBB`, that transparent pictures are laid on; null when the source has no transparency. */
      matte: string | null;
    };

/** What is done with the audio stream. */
export type AudioPlan =
  | { mode: "copy"; codec: string }
  | {
      mode: "encode";
      codec: AudioCodec;
      /** Bits per second; null for lossless codecs. */
      bitrate: number | null;
      /** FLAC compression level; null for the others. */
      compression: number | null;
      channels: number;
      /** Hertz. */
      sample_rate: number;
    };

/** What is done to make an image. */
export interface ImagePlan {
  geometry: Geometry;
  /** 1 to 100 for jpeg and webp, 0 to 63 (lower is better) for avif, null for png and gif. */
  quality: number | null;
  /** True when more than one frame is kept (gif and webp from animated input). */
  animated: boolean;
  /** True when the output keeps transparency. */
  alpha: boolean;
  deinterlace: boolean;
  tone_map: boolean;
  /** Color, as `0xRRGGBB`, that a transparent picture is laid on; null when there is none or it is kept. */
  matte: string | null;
}

/** One stream of adaptive video. */
export interface Rendition {
  /** Folder of its files, such as `720p`. */
  name: string;
  geometry: Geometry;
  rate: Rate;
  fps: number | null;
}

/** A stretch of the source, in seconds, that is encoded alone; `track` says of what. */
export interface Chunk {
  index: number;
  /** `all` for a plan of one chunk, else the pictures of a stretch or the whole sound. */
  track: "all" | "video" | "audio";
  start: number;
  /** Null for to the end. */
  end: number | null;
  /** Where decoding begins, at or before `start`, so that every picture from `start` on is whole; `start` itself when absent. */
  decode_from?: number | undefined;
  /** Where the picture begins that is on screen at `start`, and so is the first of the output; absent where that is not known or in another chunk. */
  shown_from?: number | undefined;
}

/** Everything that is to be done to a source, decided before any work starts; pure data that survives a restart. */
export interface Plan {
  kind: EncodeKind;
  /** Output format, a key of FORMATS of that kind. */
  format: string;
  /** Whether the input is a still image (no timeline). */
  still: boolean;
  /** Seconds of the source at which the output starts. */
  start: number;
  /** Seconds of the source at which it ends; null for the end. */
  end: number | null;
  /** Expected seconds of output; null when unknown or for a still. */
  duration: number | null;
  /** Expected number of output frames; null when unknown. */
  frames: number | null;
  /** For adaptive video what all renditions share, with the geometry and the rate of the best one. */
  video: VideoPlan | null;
  audio: AudioPlan | null;
  image: ImagePlan | null;
  /** Tags of the output; absent where it gets none. */
  tags?: Tags;
  /** Index of the source's stream that becomes the output's cover; absent where it gets none. */
  cover?: number;
  /** Best first; empty but for adaptive video. */
  renditions: Rendition[];
  /** In order of time, audio last; one chunk of track `all` where the work is short. */
  chunks: Chunk[];
}

/** Whether a plan re-encodes nothing. */
export function isCopy({ video, audio, image }: Plan): boolean {
  return !image && [video, audio].every((track) => track === null || track.mode === "copy");
}
