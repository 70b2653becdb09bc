import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { afterAll, expect, test } from "vitest";
import { type ClipName, clip } from "../fixtures/clips.ts";

// A parser may loop forever on a damaged file, so it runs in a thread that can be terminated.
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
    return `timed out or crashed: ${thrown}`;
  }
}

// Marsaglia's xorshift, for the same damage in every run.
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

// Damages headers and index more than the rest: cuts, changes bytes, sets ranges and numbers to all zeros or ones, drops bytes.
function damage(whole: Uint8Array, type: number, random: (below: number) => number): Uint8Array {
  const bytes = whole.slice();
  const near = Math.min(bytes.length, 4096);
  const place = () => [random(near), bytes.length - 1 - random(near), random(bytes.length)][random(3)] ?? 0;
  const extreme = () => (random(2) ? 255 : 0);
  if (type === 0) return bytes.subarray(0, 1 + random(bytes.length));
  if (type === 1) for (let n = random(20); n >= 0; n--) bytes[place()] = random(256);
  if (type === 2) bytes.fill(extreme(), ...range(place(), random(512)));
  if (type === 3) for (let n = random(4); n >= 0; n--) bytes.fill(extreme(), ...range(place(), 4));
  if (type === 4) {
    const at = place();
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random(64))]);
  }
  // Keeps the first bytes, so that the format is still recognized.
  bytes.set(whole.subarray(0, 12));
  return type === 5 ? bytes.subarray(0, 12 + random(600)) : bytes;
}

const range = (at: number, length: number) => [at, at + length] as const;

const NAMES = [
  ...["mp4", "mp4_faststart", "mp4_b_frames", "mp4_hdr", "mp4_av1", "mov", "m4a"],
  ...["mkv", "webm", "webm_vp8", "webm_alpha", "mp3", "mp3_cover", "aac", "wav", "flac", "ogg", "opus"],
] as const satisfies ClipName[];

test.for(NAMES)(
  "ends within 10 s with a clean result on damaged files of %s",
  { timeout: 120_000 },
  async (name) => {
    const whole = new Uint8Array(await readFile(await clip(name)));
    const random = createRandom(NAMES.indexOf(name) + 1);
    const answers = new Set<string>();
    for (let n = 0; n < FILES; n++) answers.add(await probeInThread(damage(whole, n % 6, random)));
    expect(
      [...answers].filter((answer) => !["probed", "input_unsupported", "probe_failed"].includes(answer)),
    ).toEqual([]);
    expect(answers).toContain("probed");
  },
);

// Both files make mediabunny 1.61 loop forever.
test("ends on a Matroska file with junk in place of clusters", async () => {
  const junk = Buffer.from(await readFile(await clip("webm")));
  junk.fill(0x55, junk.indexOf(Buffer.from("1f43b675", "hex")));
  expect(await probeInThread(junk)).toMatch(/^(input_unsupported|probe_failed)$/);
});

test("ends on a FLAC without frames", async () => {
  const whole = Buffer.from(await readFile(await clip("flac")));
  // The header has only STREAMINFO, with an unknown number of samples.
  const header = whole.subarray(0, 42);
  header[4] = 0x80;
  header.fill(0, 22, 26);
  header[21] = (header[21] ?? 0) & 0xf0;
  expect(await probeInThread(header)).toMatch(/^(input_unsupported|probe_failed)$/);
});
