import { type ClipName, clip } from "../fixtures/clips.ts";
import { crowdedClip, FOLD, surroundClip } from "../judge/clips.ts";

/** A source of the video matrix, and what any output of it must be. */
export interface VideoSource {
  /** Size of the output when none is asked for: displayed, in square pixels, even. */
  size: readonly [width: number, height: number];
  /** Channels of the output's sound; null for none. */
  channels: number | null;
  /** Filter that makes the right picture of it by native ffmpeg; default none. */
  filter?: string;
  /** Options of native ffmpeg in front of it. */
  input?: readonly string[];
  /** Filter that makes the right sound of it; default none. */
  sound?: string;
  /** Makes it; default the clip of that name. */
  make?(): Promise<string>;
}

const plain = { size: [160, 90], channels: 2 } as const;
const ON_BLACK = "split[a][b];[a]lutyuv=y=16:u=128:v=128:a=255[c];[c][b]overlay,format=yuv420p";

/** Everything that a video may be made of. */
export const VIDEO_SOURCES: Partial<Record<ClipName, VideoSource>> & Record<string, VideoSource> = {
  mp4: plain,
  mp4_b_frames: plain,
  mp4_fragmented: plain,
  mp4_rotated_90: { size: [90, 160], channels: 2 },
  mp4_rotated_180: plain,
  mp4_rotated_270: { size: [90, 160], channels: 2 },
  mp4_wide_pixels: { size: [212, 90], channels: 2, filter: "scale=212:90,setsar=1" },
  mp4_odd: { size: [160, 90], channels: null, filter: "scale=160:90" },
  webm_odd: { size: [160, 90], channels: null, filter: "scale=160:90" },
  mp4_vfr: plain,
  mp4_silent: { size: [160, 90], channels: null },
  "many streams": { ...plain, make: () => crowdedClip(SECONDS) },
  surround: { ...plain, sound: FOLD, make: () => surroundClip(SECONDS) },
  mp4_10_bit: plain,
  mp4_h265: plain,
  mp4_interlaced: { size: [160, 88], channels: 2, filter: "yadif" },
  mpegts_interlaced: { size: [160, 88], channels: 2, filter: "yadif" },
  mpegts: plain,
  mov: plain,
  mov_prores: plain,
  mkv: plain,
  webm: plain,
  webm_vp8: plain,
  webm_alpha: {
    size: [160, 90],
    channels: null,
    filter: ON_BLACK,
    input: ["-c:v", "libvpx-vp9"],
  },
  avi: plain,
  flv: plain,
  h264: { size: [160, 90], channels: null },
  gif_animated: { size: [160, 90], channels: null },
};

/** Length of every source in seconds. */
export const SECONDS = 1;

/** Gives the path of a source of the matrix. */
export function makeSource(name: string): Promise<string> {
  const make = VIDEO_SOURCES[name]?.make;
  return make ? make() : clip(name as ClipName, { seconds: SECONDS });
}
