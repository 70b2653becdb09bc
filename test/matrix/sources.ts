import { type ClipName, clip } from "../fixtures/clips.ts";
import { crowdedClip, FOLD, surroundClip } from "../judge/clips.ts";

/** A source of the video matrix, and the facts of every output of it. */
export interface VideoSource {
  /** Default size of the output: displayed, in square pixels, even. */
  size: readonly [width: number, height: number];
  /** Audio channels of the output; null for none. */
  channels: number | null;
  /** ffmpeg filter for the expected picture; default none. */
  filter?: string;
  /** ffmpeg options before the source. */
  input?: readonly string[];
  /** ffmpeg filter for the expected sound; default none. */
  sound?: string;
  /** Makes the source; default is the clip of that name. */
  make?(): Promise<string>;
}

const plain = { size: [160, 90], channels: 2 } as const;
const ON_BLACK = "split[a][b];[a]lutyuv=y=16:u=128:v=128:a=255[c];[c][b]overlay,format=yuv420p";

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

/** Seconds of every source. */
export const SECONDS = 1;

/** Makes a source of the matrix and returns its path. */
export function makeSource(name: string): Promise<string> {
  const make = VIDEO_SOURCES[name]?.make;
  return make ? make() : clip(name as ClipName, { seconds: SECONDS });
}
