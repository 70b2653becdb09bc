import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { afterAll, expect, test } from "vitest";
import { type ClipName, clip } from "../fixtures/clips.ts";

// A parser may loop for ever on a damaged file, so it runs where it can be stopped.
let thread: Worker | undefined;
afterAll(() => thread?.terminate());

const LIMIT_MS = 10_000;
const FILES = 180;

async function probeInThread(bytes: Uint8Array): Promise<string> {
  thread ??= new Worker(new URL("./hostile-thread.ts", import.meta.url));
  const running = thread;
  running.postMessage(bytes);
  try {
    const [answer] = await once(running, "message", { signal: AbortSignal.timeout(LIMIT_MS) });
    return String(answer);
  } catch (thrown) {
    thread = undefined;
    await running.terminate();
    return `no end or a crash: ${thrown}`;
  }
}

// Marsaglia's xorshift: the same damage in every run.
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

// Damages headers and index more than the rest: cut, bytes changed, stretches and numbers set to all zeros or ones, bytes left out.
function damage(whole: Uint8Array, sort: number, random: (below: number) => number): Uint8Array {
  const bytes = whole.slice();
  const near = Math.min(bytes.length, 4096);
  const place = () => [random(near), bytes.length - 1 - random(near), random(bytes.length)][random(3)] ?? 0;
  const extreme = () => (random(2) ? 255 : 0);
  if (sort === 0) return bytes.subarray(0, 1 + random(bytes.length));
  if (sort === 1) for (let n = random(20); n >= 0; n--) bytes[place()] = random(256);
  if (sort === 2) bytes.fill(extreme(), ...stretch(place(), random(512)));
  if (sort === 3) for (let n = random(4); n >= 0; n--) bytes.fill(extreme(), ...stretch(place(), 4));
  if (sort === 4) {
    const at = place();
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random(64))]);
  }
  // Its start is left alone, so that it is still taken for what it was.
  bytes.set(whole.subarray(0, 12));
  return sort === 5 ? bytes.subarray(0, 12 + random(600)) : bytes;
}

const stretch = (at: number, length: number) => [at, at + length] as const;

const NAMES = [
  ...["mp4", "mp4_faststart", "mp4_b_frames", "mp4_hdr", "mp4_av1", "mov", "m4a"],
  ...["mkv", "webm", "webm_vp8", "webm_alpha", "mp3", "mp3_cover", "aac", "wav", "flac", "ogg", "opus"],
] as const satisfies ClipName[];

test.for(NAMES)("damaged files of %s are done with soon, and well", { timeout: 120_000 }, async (name) => {
  const whole = new Uint8Array(await readFile(await clip(name)));
  const random = createRandom(NAMES.indexOf(name) + 1);
  const answers = new Set<string>();
  for (let n = 0; n < FILES; n++) answers.add(await probeInThread(damage(whole, n % 6, random)));
  expect(
    [...answers].filter((answer) => !["probed", "input_unsupported", "probe_failed"].includes(answer)),
  ).toEqual([]);
  expect(answers).toContain("probed");
});

// What makes mediabunny 1.61 loop for ever: a Matroska file with junk for its pictures, a FLAC without frames.
test("a Matroska file with junk for its pictures comes to an end", async () => {
  const junk = Buffer.from(await readFile(await clip("webm")));
  junk.fill(0x55, junk.indexOf(Buffer.from("1f43b675", "hex")));
  expect(await probeInThread(junk)).toMatch(/^(input_unsupported|probe_failed)$/);
});

test("a FLAC without frames comes to an end", async () => {
  const whole = Buffer.from(await readFile(await clip("flac")));
  // STREAMINFO with an unknown number of samples, and then nothing.
  const header = whole.subarray(0, 42);
  header[4] = 0x80;
  header.fill(0, 22, 26);
  header[21] = (header[21] ?? 0) & 0xf0;
  expect(await probeInThread(header)).toMatch(/^(input_unsupported|probe_failed)$/);
});
