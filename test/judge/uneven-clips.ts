import { makeClip } from "../fixtures/make-clip.ts";

/** A video with a variable frame rate. */
export interface Uneven {
  /** Seconds at which each picture starts. */
  times: readonly number[];
  end: number;
  path: string;
}

/** Times in milliseconds by picture number, as an ffmpeg expression and as a function. */
const KINDS = {
  /** Ten pictures at 25 fps, then one every 0.7 s, the last for 1.57 s: 8.27 s. */
  mixed: {
    formula: "if(lt(N,10),N*40,400+(N-10)*700)",
    at: (index: number) => (index < 10 ? index * 40 : 400 + (index - 10) * 700),
    end: 8270,
  },
  /** Like a screen recording, with gaps of 0.1 to 3 s. */
  screen: {
    formula: "4100*floor(N/3)+if(eq(mod(N,3),1),100,if(eq(mod(N,3),2),1100,0))",
    at: (index: number) => 4100 * Math.floor(index / 3) + ([0, 100, 1100][index % 3] ?? 0),
    end: 26_270,
  },
  /** One slide per second, the last for 1.57 s. */
  slides: { formula: "N*1000", at: (index: number) => index * 1000, end: 20_570 },
} as const;

const PICTURES = 20;
const CODECS = {
  mp4: "-c:v libx264 -preset ultrafast -bf 0 -video_track_timescale 1000",
  mov: "-c:v libx264 -preset ultrafast -bf 0 -video_track_timescale 1000",
  fragmented:
    "-c:v libx264 -preset ultrafast -bf 0 -video_track_timescale 1000 -movflags +frag_keyframe+empty_moov+default_base_moof",
  mkv: "-c:v libx264 -preset ultrafast -bf 0",
  webm: "-c:v libvpx-vp9 -deadline realtime -cpu-used 8",
} as const;

/** Makes a file of twenty pictures at uneven times with native ffmpeg, and with sound unless `sound_seconds` is 0. */
export async function unevenClip(
  kind: keyof typeof KINDS,
  format: keyof typeof CODECS,
  sound_seconds = 0,
): Promise<Uneven> {
  const { formula, at, end } = KINDS[kind];
  const times = Array.from({ length: PICTURES }, (_, index) => at(index)).sort((one, other) => one - other);
  const sound = ["-f", "lavfi", "-i", `sine=frequency=440:duration=${sound_seconds}`];
  const lengths = `setts=pts=PTS:dts=DTS:duration='if(gt(NEXT_DTS,DTS),NEXT_DTS-DTS,${end}-PTS)'`;
  const path = await makeClip(format === "fragmented" ? "mp4" : format, [
    ...["-f", "lavfi", "-i", `testsrc2=size=160x90:rate=25:duration=${PICTURES / 25}`],
    ...(sound_seconds > 0 ? sound : []),
    ...["-vf", `settb=1/1000,setpts='${formula}'`],
    ...["-fps_mode", "vfr", "-enc_time_base:v", "1:1000", "-g", "10"],
    ...CODECS[format].split(" "),
    ...["-bsf:v", lengths, ...(sound_seconds > 0 ? ["-c:a", format === "webm" ? "libopus" : "aac"] : [])],
  ]);
  return { times: times.map((time) => time / 1000), end: end / 1000, path };
}
