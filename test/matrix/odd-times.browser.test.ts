import { describe, expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { numberedClip } from "../integrity/numbered.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { rewritten } from "../judge/odd-lengths.ts";
import { type Encode, usePage, useService } from "./hosts.ts";

const LIMIT = { timeout: 240_000 };
const PICTURES = 40;

/** An MP4 with sound whose index gives all pictures the time 0. */
async function untimedClip(): Promise<string> {
  const codec = "-c:v libx264 -preset ultrafast -g 10 -pix_fmt yuv420p";
  const path = await numberedClip({ container: "mp4", frames: PICTURES, codec });
  return rewritten(path, "mp4", "untimed", (file) => {
    // The run of all pictures: its count, then the ticks of each.
    file.writeUInt32BE(0, file.indexOf("stts") + 16);
    return file;
  });
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

async function judgeUntimed(encode: Encode) {
  const input = await untimedClip();
  const numbers = async (kind: "video" | "image", options: object) =>
    (await readFrames((await encode(kind, input, options)).path)).map(({ number }) => number);
  const whole = await readFrames((await encode("video", input, { format: "mp4" })).path);
  expect(whole.map(({ number }) => number)).toEqual(range(0, PICTURES));
  expect(whole.map(({ time }) => Math.round(time * 1000))).toEqual(range(0, PICTURES).map((n) => n * 40));
  expect(await numbers("video", { start: 0.4, end: 0.8 })).toEqual(range(10, 20));
  expect(await numbers("image", { format: "png", start: 1.01 })).toEqual([25]);
  expect(await numbers("image", { format: "png", start: 1.59 })).toEqual([39]);
}

/** Copies from between two keyframes of a fragmented MP4, whose groups of pictures last 0.4 s. */
async function judgeFragmented(encode: Encode) {
  const codec = "-c:v libx264 -preset ultrafast -g 10 -pix_fmt yuv420p";
  const fragments = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"];
  const whole = await numberedClip({ container: "mp4", frames: PICTURES, codec });
  const input = await makeClip("mp4", ["-i", whole, "-c", "copy", ...fragments]);
  const { path } = await encode("video", input, { mode: "copy", start: 1 });
  expect((await readFrames(path)).map(({ number }) => number)).toEqual(range(20, PICTURES));
}

function judgeAll(encode: Encode) {
  test("pictures that all have the time 0 play at 25 a second", LIMIT, () => judgeUntimed(encode));
  test("a copy of fragments begins at a keyframe near its start", LIMIT, () => judgeFragmented(encode));
}

describe("by a service", () => judgeAll(useService().encode));
describe("by a page", () => judgeAll(usePage("odd-times").encode));
