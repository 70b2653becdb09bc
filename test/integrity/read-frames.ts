import { runNative } from "../judge/native.ts";
import { PICTURE } from "./numbered.ts";

/** A picture of a numbered clip or of its output. */
export interface Frame {
  /** Burnt-in number of the frame; null if unreadable. */
  number: number | null;
  /** Seconds on the container's clock. */
  time: number;
  /** The part below the number, small and in gray. */
  rest: Uint8Array;
}

// Each bit, and each of the two bands of bits, is scaled to four cells.
const CELL = 4;
const COLUMNS = PICTURE.bits * CELL;
const BANDS = 2 * CELL;
const ROWS = (PICTURE.height / PICTURE.band) * CELL;
// The least difference between a bit and its inverse, out of 255.
const CLEAR = 60;

/** Reads every picture of a file or playlist with native ffmpeg, in display order. */
export async function readFrames(path: string, before: readonly string[] = []): Promise<Frame[]> {
  const small = `scale=${COLUMNS}:${ROWS}:flags=area,format=gray,showinfo=checksum=0`;
  const { output, log } = await runNative([
    ...[...before, "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-copyts"],
    ...["-vf", small, "-f", "rawvideo", "-"],
  ]);
  const times = [...log.matchAll(/ pts_time:(\S+)/g)].map(([, time]) => Number(time));
  const size = COLUMNS * ROWS;
  return Array.from({ length: output.length / size }, (_, index) => {
    const gray = output.subarray(index * size, (index + 1) * size);
    return {
      number: readNumber(gray),
      time: times[index] ?? Number.NaN,
      rest: gray.subarray(BANDS * COLUMNS),
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

// The mean of a block's inner cells, as its edges blend with its neighbors.
function blockOf(gray: Uint8Array, bit: number, band: number): number {
  let sum = 0;
  for (const y of [1, 2]) {
    for (const x of [1, 2]) sum += gray[(band * CELL + y) * COLUMNS + bit * CELL + x] ?? 0;
  }
  return sum / 4;
}

/** Faults of the pictures of an output: numbers as ranges such as `50-99`, or an empty string. */
export interface FrameFaults {
  /** Numbers on no picture. */
  missing: string;
  /** Numbers on several pictures. */
  doubled: string;
  /** Numbers after a later one, and unexpected numbers. */
  misplaced: string;
  /** Positions of pictures without a readable number. */
  unreadable: string;
  /** Numbers of damaged pictures. */
  damaged: string;
  /** Numbers of pictures more than a frame off their time. */
  untimely: string;
}

export const FAULTLESS: FrameFaults = {
  ...{ missing: "", doubled: "", misplaced: "", unreadable: "", damaged: "", untimely: "" },
};

export interface WantedFrames {
  /** The source's frames that belong in the output, in order. */
  frames: readonly Frame[];
  /** Seconds on the source's clock at which the output starts. */
  start: number;
}

// Mean difference of the small gray pictures, out of 255: low quality stays below 8; half a picture of plain gray reaches 40.
const DAMAGED = 16;
const LATE = 1 / PICTURE.fps + 0.0021;

/** Compares the pictures of an output with the expected ones. */
export function findFaults(frames: readonly Frame[], expected: WantedFrames): FrameFaults {
  const originals = new Map(expected.frames.map((frame) => [frame.number, frame]));
  const numbers = new Set<number>();
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
      if (numbers.has(number)) doubled.push(number);
      else if (number < latest) misplaced.push(number);
      numbers.add(number);
      latest = Math.max(latest, number);
      if (difference(rest, original.rest) > DAMAGED) damaged.push(number);
      // Negated, so that a time of NaN counts as a fault.
      if (!(Math.abs(time - (original.time - expected.start)) < LATE)) untimely.push(number);
    }
  }
  const missing = expected.frames.flatMap(({ number }) =>
    number === null || numbers.has(number) ? [] : [number],
  );
  const faults = { missing, doubled, misplaced, unreadable, damaged, untimely };
  return {
    ...FAULTLESS,
    ...Object.fromEntries(Object.entries(faults).map(([name, numbers]) => [name, toRanges(numbers)])),
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
