import { runNative } from "../judge/native.ts";
import { PICTURE } from "./numbered.ts";

/** A picture of a numbered clip, or of what was made of one. */
export interface Frame {
  /** Null where the picture does not show one. */
  number: number | null;
  /** Seconds by the container. */
  time: number;
  /** What lies below the number, in gray and small. */
  rest: Uint8Array;
}

// Four cells for each bit across, and as many for each of the two bands of bits down.
const CELL = 4;
const ACROSS = PICTURE.bits * CELL;
const BANDS = 2 * CELL;
const DOWN = (PICTURE.height / PICTURE.band) * CELL;
// Of 255, by which a bit and its inverse must differ.
const CLEAR = 60;

/** Reads every picture of a file or playlist with native ffmpeg, in the order in which they are shown. */
export async function readFrames(path: string, before: readonly string[] = []): Promise<Frame[]> {
  const small = `scale=${ACROSS}:${DOWN}:flags=area,format=gray,showinfo=checksum=0`;
  const { output, log } = await runNative([
    ...[...before, "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-copyts"],
    ...["-vf", small, "-f", "rawvideo", "-"],
  ]);
  const times = [...log.matchAll(/ pts_time:(\S+)/g)].map(([, time]) => Number(time));
  const size = ACROSS * DOWN;
  return Array.from({ length: output.length / size }, (_, index) => {
    const gray = output.subarray(index * size, (index + 1) * size);
    return {
      number: readNumber(gray),
      time: times[index] ?? Number.NaN,
      rest: gray.subarray(BANDS * ACROSS),
    };
  });
}

function readNumber(gray: Uint8Array): number | null {
  let number = 0;
  for (let bit = 0; bit < PICTURE.bits; bit++) {
    const difference = blockOf(gray, bit, 0) - blockOf(gray, bit, 1);
    if (Math.abs(difference) < CLEAR) return null;
    if (difference > 0) number += 2 ** bit;
  }
  return number;
}

// The mean of the inner cells of a block: its edges mix with what lies beside.
function blockOf(gray: Uint8Array, bit: number, band: number): number {
  let sum = 0;
  for (const y of [1, 2]) {
    for (const x of [1, 2]) sum += gray[(band * CELL + y) * ACROSS + bit * CELL + x] ?? 0;
  }
  return sum / 4;
}

/** What is wrong with the pictures of an output; numbers as ranges such as `50-99`, empty where nothing is. */
export interface FrameFaults {
  /** Numbers that no picture bears. */
  missing: string;
  /** Numbers that several bear. */
  doubled: string;
  /** Numbers that come after a later one, and those that nobody asked for. */
  misplaced: string;
  /** Pictures at these places show no number. */
  unreadable: string;
  /** Numbers of pictures that are not whole. */
  damaged: string;
  /** Numbers of pictures that are shown more than a frame from their time. */
  untimely: string;
}

/** No fault at all. */
export const FAULTLESS: FrameFaults = {
  ...{ missing: "", doubled: "", misplaced: "", unreadable: "", damaged: "", untimely: "" },
};

/** What the pictures of an output must be. */
export interface WantedFrames {
  /** Those of the source that belong to it, in order. */
  frames: readonly Frame[];
  /** Seconds of the source's clock at which the output starts. */
  start: number;
}

// Of 255, the mean difference of small gray pictures: low quality stays below 8, and half a picture of gray comes to 40.
const DAMAGED = 16;
const LATE = 1 / PICTURE.fps + 0.0021;

/** Compares the pictures of an output with those that it must have. */
export function findFaults(frames: readonly Frame[], wanted: WantedFrames): FrameFaults {
  const originals = new Map(wanted.frames.map((frame) => [frame.number, frame]));
  const seen = new Set<number>();
  const doubled: number[] = [];
  const misplaced: number[] = [];
  const unreadable: number[] = [];
  const damaged: number[] = [];
  const untimely: number[] = [];
  let latest = -1;
  for (const [place, { number, time, rest }] of frames.entries()) {
    const original = originals.get(number);
    if (number === null) unreadable.push(place);
    else if (!original) misplaced.push(number);
    else {
      if (seen.has(number)) doubled.push(number);
      else if (number < latest) misplaced.push(number);
      seen.add(number);
      latest = Math.max(latest, number);
      if (difference(rest, original.rest) > DAMAGED) damaged.push(number);
      // No time at all is a fault too.
      if (!(Math.abs(time - (original.time - wanted.start)) < LATE)) untimely.push(number);
    }
  }
  const missing = wanted.frames.flatMap(({ number }) =>
    number === null || seen.has(number) ? [] : [number],
  );
  const found = { missing, doubled, misplaced, unreadable, damaged, untimely };
  return {
    ...FAULTLESS,
    ...Object.fromEntries(Object.entries(found).map(([name, numbers]) => [name, toRanges(numbers)])),
  };
}

function difference(one: Uint8Array, other: Uint8Array): number {
  let sum = 0;
  for (const [at, value] of one.entries()) sum += Math.abs(value - (other[at] ?? 0));
  return sum / one.length;
}

function toRanges(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const number of numbers) {
    const range = ranges.at(-1);
    if (range && number === range[1] + 1) range[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(" ");
}
