import type { Source } from "../../src/media/source.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { makeFootage } from "../footage.ts";
import { similarities } from "../similarity.ts";
import { describeChoice, openHeavy } from "./heavy.ts";

const SECONDS = 80;
const WIDTH = 854;
const OPTIONS = { width: WIDTH, codec: "h265" } as const;
const FPS = 25;
// Frames on either side of a seam.
const AROUND = 5;

/** A long encode cut into chunks for two encoders, against one encoder that takes it whole, on the same processors. */
export const chunkedBenchmarks: readonly Benchmark[] = [
  { name: "chunked-vs-single", unit: "s", open: openTime },
  { name: "chunked-ssim-seams", unit: "SSIM", open: openSeams },
];

async function openBoth(ends: AsyncDisposableStack) {
  const footage = await makeFootage(SECONDS);
  const one = await openHeavy(footage, ends, 1);
  const two = await openHeavy(footage, ends, 2);
  return { footage, one, two };
}

async function openTime(ends: AsyncDisposableStack): Promise<Contest> {
  const { one, two } = await openBoth(ends);
  let [single, chunked] = ["", ""];
  return {
    async peer() {
      const { output, seconds } = await one.encode("video", OPTIONS);
      single = describeChoice(output);
      return { value: seconds };
    },
    async ours() {
      const { output, seconds } = await two.encode("video", OPTIONS);
      chunked = describeChoice(output);
      return { value: seconds };
    },
    notes: () =>
      `${SECONDS} s of 1280x720 to ${WIDTH} wide H.265; two encoders: ${chunked}; one: ${single}; both on the same processors`,
  };
}

async function openSeams(ends: AsyncDisposableStack): Promise<Contest> {
  const { footage, one, two } = await openBoth(ends);
  const whole = await one.save((await one.encode("video", OPTIONS)).output, "whole.mp4");
  const single = await similarities(whole, footage.path, WIDTH);
  let lowest = Number.NaN;
  return {
    peer: null,
    async ours() {
      const { output } = await two.encode("video", OPTIONS);
      const parts = await similarities(await two.save(output, "parts.mp4"), footage.path, WIDTH);
      if (parts.length !== single.length)
        throw new Error(`${parts.length} frames came out, not ${single.length}.`);
      const frames = framesAround(seamsOf(output), parts.length);
      const lowestAt = (values: readonly number[]) => Math.min(...frames.map((frame) => values[frame] ?? 1));
      lowest = lowestAt(single);
      return { value: lowestAt(parts) - lowest };
    },
    notes: () =>
      `lowest SSIM within ${AROUND} frames of a seam less that of the single pass at the same frames (${lowest.toFixed(4)})`,
  };
}

// The reason states the number of chunks; they are equal, and the clip has a keyframe at each seam.
function seamsOf({ reason = "" }: Source): number[] {
  const count = Number(/(\d+) chunks of/.exec(reason)?.[1]);
  if (!(count > 1)) throw new Error(`The encode was not cut: ${reason}`);
  return Array.from({ length: count - 1 }, (_, index) => ((index + 1) * SECONDS) / count);
}

function framesAround(seams: readonly number[], frames: number): number[] {
  return seams.flatMap((seam) => {
    const first = Math.max(0, Math.round(seam * FPS) - AROUND);
    const last = Math.min(frames, Math.round(seam * FPS) + AROUND);
    return Array.from({ length: last - first }, (_, index) => first + index);
  });
}
