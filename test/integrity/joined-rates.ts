import { makeClip } from "../fixtures/make-clip.ts";
import { numberedClip } from "./numbered.ts";
import type { Frame } from "./read-frames.ts";

const COUNT = 16;

/** Makes two numbered clips to join: one with a burst of 50 pictures a second and then five, and one with 48 a second throughout. */
export async function joinedRates(): Promise<[uneven: string, quick: string]> {
  const codec = "-c:v libx264 -preset veryfast -pix_fmt yuv420p";
  const clip = await numberedClip({ container: "mp4", frames: COUNT, codec });
  const retimed = (times: string) =>
    makeClip("mp4", [
      ...["-i", clip, "-an", "-vf", `settb=1/1200,setpts='${times}'`, "-fps_mode", "vfr"],
      ...["-enc_time_base:v", "1:1200", "-video_track_timescale", "1200", ...codec.split(" "), "-bf", "0"],
    ]);
  return [await retimed("if(lt(N,10),24*N,240+240*(N-10))"), await retimed("25*N")];
}

/** The numbers that a join of {@link joinedRates} shows. */
export const JOINED_NUMBERS: readonly number[] = [0, 1].flatMap(() =>
  Array.from({ length: COUNT }, (_, number) => number),
);

/** Returns the numbers of pictures in order, each once for as long as it stays. */
export function numbersOf(frames: readonly Frame[]): (number | null)[] {
  return frames.map(({ number }) => number).filter((number, at, all) => at === 0 || number !== all[at - 1]);
}
