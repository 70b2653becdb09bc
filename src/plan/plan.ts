import type { AudioCodec, EncodeKind, VideoCodec } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import type { Tags } from "../core/tags.ts";
import type { Burn } from "./further/burn.ts";
import type { FurtherFile } from "./further/further-file.ts";
import type { Overlay } from "./further/overlay.ts";
import type { WaveformPlan } from "./waveform/waveform-plan.ts";

/** How a stored picture becomes the output picture; the steps apply in the order of the fields. */
export interface Geometry {
  /** Clockwise degrees by which the decoded picture is turned first. */
  rotate: 0 | 90 | 180 | 270;
  /** What is left to turn by where the decoder turns pictures as players do. */
  turn: 0 | 90 | 180 | 270;
  /** Whether the turned picture is mirrored, left to right. */
  mirror: boolean;
  /** The part to keep, in stored pixels after turning and mirroring; null keeps all. */
  crop: { x: number; y: number; width: number; height: number } | null;
  /** Size to scale to, in square pixels from here on; null when nothing needs scaling. */
  scale: { width: number; height: number } | null;
  /**
   * Padding around the scaled picture (fit contain): the size of the canvas, the picture's position, and a color as
   * `0xRRGGBB` or `0xRRGGBBAA`; null for none.
   */
  pad: { width: number; height: number; x: number; y: number; color: string } | null;
  /** Size of the output picture in pixels. */
  width: number;
  height: number;
}

/** Constant quality in the codec's own scale, or an average bitrate in bits per second. */
export type Rate = { crf: number; maxrate?: number } | { bitrate: number };

/** How the video stream is produced. */
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
      /** Whether HDR is converted to SDR. */
      tone_map: boolean;
      /** Bits per component: 10 when the codec keeps an HDR source as HDR, otherwise 8. */
      depth: 8 | 10;
      /** Background for transparent pictures as `0xRRGGBB`; null when the source has no transparency. */
      matte: string | null;
      /** What is laid over the sized pictures; absent for nothing. */
      overlay?: Overlay;
      /** Text that is drawn into them last; absent for none. */
      burn?: Burn;
    };

/** What is changed about the sound, in the order of the fields; times count from the start of the output. */
export interface SoundShape {
  /** Integrated loudness to reach, in LUFS; absent to leave it. */
  loudness?: number;
  /** Factor of the amplitude; absent to leave it. */
  volume?: number;
  /** Seconds in which the sound rises; absent for none. */
  fade_in?: number;
  /** When the sound begins to fall, and in how many seconds; absent for none. */
  fade_out?: { at: number; seconds: number };
}

/** How the audio stream is produced. */
export type AudioPlan =
  | { mode: "copy"; codec: string }
  | {
      mode: "encode";
      codec: AudioCodec;
      /** Bits per second; null for lossless codecs. */
      bitrate: number | null;
      /** FLAC compression level; null for other codecs. */
      compression: number | null;
      channels: number;
      /** Sample rate in hertz. */
      sample_rate: number;
      /** What is changed about the sound; absent when nothing is. */
      shape?: SoundShape;
    };

/** How an image is produced. */
export interface ImagePlan {
  geometry: Geometry;
  /** Quality: 1 to 100 for jpeg and webp, 0 to 63 (lower is better) for avif, null for png and gif. */
  quality: number | null;
  /** How often the decoder halves the picture's sides, before all else; absent for never. */
  shrink?: 1 | 2 | 3;
  /** How thoroughly libwebp looks for a smaller file, from 0 to 6; absent for its own 4. */
  effort?: number;
  /** Whether more than one frame is kept (gif and webp from animated input). */
  animated: boolean;
  /** Whether the output keeps transparency. */
  alpha: boolean;
  deinterlace: boolean;
  tone_map: boolean;
  /** Background for a transparent picture as `0xRRGGBB`; null when there is no transparency or it is kept. */
  matte: string | null;
  /** Bytes that the file must not exceed, for which quality and then size are lowered; absent for any. */
  max_bytes?: number;
  /** What is laid over the sized pictures, at every time; absent for nothing. */
  overlay?: Overlay;
  /** Of the kind `animation`: how it moves, and how its palette is chosen; absent for other kinds. */
  motion?: Motion;
  /** Of a storyboard: how its tiles are chosen and laid out, of which `geometry` is one. Of several stills, each is a sheet of one tile. */
  sheet?: Sheet;
}

/** How the tiles of a storyboard are chosen and laid out. */
export interface Sheet {
  /** Seconds from one tile to the next, in whole milliseconds. */
  interval: number;
  tiles: number;
  /** Tiles across and down a sheet. */
  columns: number;
  rows: number;
  sheets: number;
}

/** How an animation moves. */
export interface Motion {
  /** Frames per second; null keeps the source's timing. */
  fps: number | null;
  /** How often it plays; 0 forever. */
  loop: number;
  /** Of a GIF: colors of the one palette of all frames, and how pixels between two colors are dithered. */
  palette: Palette | null;
}

/** A palette for all frames of an animation. */
export interface Palette {
  colors: number;
  /** Name of a kernel that spreads the error, or the strength of an ordered pattern, 0 (strongest) to 5. */
  dither: "sierra2_4a" | number;
}

/** One stream of adaptive video. */
export interface Rendition {
  /** Folder of its files, such as `720p`. */
  name: string;
  geometry: Geometry;
  rate: Rate;
  fps: number | null;
}

/** A stretch of the source, in seconds, that is encoded separately; `track` selects its streams. */
export interface Chunk {
  index: number;
  /** `all` in a plan of one chunk; otherwise the pictures of a stretch, or the whole sound. */
  track: "all" | "video" | "audio";
  start: number;
  /** End in seconds; null up to the end. */
  end: number | null;
  /** Where decoding starts, at or before `start`, so that every picture from `start` on is complete. Default: `start`. */
  decode_from?: number | undefined;
  /** Start of the picture visible at `start`, which is the first of the output; absent when it is unknown or in another chunk. */
  shown_from?: number | undefined;
  /** Whether only keyframes are decoded, because they show enough. */
  keyframes_only?: boolean | undefined;
  /** Of adaptive video with several sound tracks: which of the plan's `sounds` an `audio` chunk is; absent for the first. */
  sound?: number | undefined;
  /** Seconds from `start` to the first sound of a stream, where the sound changes its layout or rate midway; else absent. */
  sound_from?: number | undefined;
}

/** One of several sound tracks of adaptive video. */
export interface Sound {
  /** Index among the source's sound tracks. */
  track: number;
  audio: AudioPlan;
}

/** A text track of the output: made of the source's stream of that index, or of the further input of that number. */
export type SubtitlePlan = SubtitleFacts &
  ({ stream: number; file?: never } | { file: number; stream?: never });

/** What an output says about a text track. */
export interface SubtitleFacts {
  language?: string;
  title?: string;
  /** Whether players show it unless told otherwise. */
  default?: true;
  /** Whether it holds only what every viewer needs. */
  forced?: true;
}

/** One of several videos that play one after the other; the first is the source itself. */
export interface ConcatPart {
  /** Its index among all inputs, of which 0 is the source. */
  input: number;
  source: Source;
  /** How its pictures take the shape of the first one's; null where they are copied. */
  video: Extract<VideoPlan, { mode: "encode" }> | null;
  /** Pictures of the output, which encoded ones show at a constant frame rate. */
  frames: number;
  /** Of copied pictures: the seconds of the output that the part fills, and the ticks per second of their times. */
  joined?: { seconds: number; ticks: number };
}

/** Everything to be done with a source, decided before any work starts; plain data that survives a restart. */
export interface Plan {
  kind: EncodeKind;
  /** Output format, a key of FORMATS for the kind. */
  format: string;
  /** Whether the input is a still image (no timeline). */
  still: boolean;
  /** The stretch of the source, in seconds; its end is null up to the end. */
  start: number;
  end: number | null;
  /** Expected seconds of output; null when unknown or for a still. */
  duration: number | null;
  /** Seconds of source in a second of output; absent for 1. */
  speed?: number;
  /** Expected number of output frames; null when unknown. */
  frames: number | null;
  /** Bytes that the file must not exceed, from which the bitrate follows; absent for any. */
  target_size?: number;
  /** For adaptive video, what all renditions share, with the geometry and rate of the best one. */
  video: VideoPlan | null;
  audio: AudioPlan | null;
  /** Index of the sound among the source's sound tracks; absent for the first. */
  sound_track?: number;
  /** Language of the sound of a video, as ISO 639-2/T writes it; absent where it is not known. */
  language?: string;
  /** All sound tracks of adaptive video, where it has several; the first is that of `audio`. Each has a chunk. */
  sounds?: Sound[];
  image: ImagePlan | null;
  /** Of the kind `waveform`: what is made of the sound, which is then of 16 bits and as the decoder returns it; absent for other kinds. */
  waveform?: WaveformPlan;
  /** Tags of the output; absent when it has none. */
  tags?: Tags;
  /** Index of the source stream used as the output's cover; absent when there is none. */
  cover?: number;
  /** Whether the finished file gets the source's chapters; absent where it gets none, or has them as `tags`. */
  chapters?: true;
  /** Text tracks of the output, in order; absent when it has none. */
  subtitles?: SubtitlePlan[];
  /** The files that are read beside the source, in the order in which encoders receive them; absent where there are none. */
  further?: readonly FurtherFile[];
  /** The videos that play one after the other, of which the source is the first; absent where there is only that. */
  concat?: readonly ConcatPart[];
  /** Best first; empty unless the plan is for adaptive video. */
  renditions: Rendition[];
  /** Of adaptive video, from when to when the last picture is shown again, in seconds of the source; absent where it is not. */
  held?: { from: number; until: number };
  /** Whether each rendition of HLS has an I-frame playlist; absent where it has none. */
  i_frames?: true;
  /** How HLS names the encryption of its segments: where players get the key, and the vector of all in hexadecimal; absent for none. */
  encryption?: { key_url: string; iv?: string };
  /** In order of time, sound last; one chunk of track `all` for short work. */
  chunks: Chunk[];
}

/** Returns the sound tracks of a plan's output. */
export function soundsOf({ audio, sounds, sound_track = 0 }: Pick<Plan, "audio" | "sounds" | "sound_track">) {
  return sounds ?? (audio ? [{ track: sound_track, audio }] : []);
}

/** Returns the folder of one of the sounds of adaptive video. */
export function soundFolder(sound = 0): string {
  return sound === 0 ? "audio" : `audio_${sound}`;
}

/** Returns the seconds of source that a plan spans; null when unknown. */
export function sourceSeconds({ duration, speed = 1 }: Plan): number | null {
  return duration === null ? null : duration * speed;
}

/** Returns where a chunk ends in the source, in seconds; null when unknown. */
export function sourceEnd(plan: Plan, { end }: { end: number | null } = plan): number | null {
  const seconds = sourceSeconds(plan);
  return end ?? (seconds === null ? null : plan.start + seconds);
}

/** Returns the seconds of output of a chunk; null when unknown. */
export function outputSeconds(plan: Plan, chunk: { start: number; end: number | null }): number | null {
  const end = sourceEnd(plan, chunk);
  return end === null || end <= chunk.start ? null : (end - chunk.start) / (plan.speed ?? 1);
}

/** Returns the frames per second of a plan's pictures when they are constant; null when they keep the source's timing. */
export function constantFps({ video, image }: Pick<Plan, "video" | "image">): number | null {
  return (video?.mode === "encode" ? video.fps : image?.motion?.fps) ?? null;
}

/** Returns the size of a whole output picture, which of a storyboard is a sheet. */
export function pictureSize({ geometry, sheet }: ImagePlan): { width: number; height: number } {
  const { columns = 1, rows = 1 } = sheet ?? {};
  return { width: geometry.width * columns, height: geometry.height * rows };
}

/** Returns whether the output of a plan is a folder of files. */
export function hasManyFiles({ kind, image }: Pick<Plan, "kind" | "image">): boolean {
  return kind === "adaptive_video" || image?.sheet !== undefined;
}
