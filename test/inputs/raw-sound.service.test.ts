import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Source } from "../../src/media/source.ts";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { compareSound, readSound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const FRAME = 1024 / 44_100;
const FRAMES = 4558;
const PLAIN = { channels: 1, sample_rate: 44_100 };

// Quiet at first, then loud: its start alone suggests another length.
function unevenClip(): Promise<string> {
  return makeClip("aac", [
    ...["-f", "lavfi", "-i", "sine=frequency=300:duration=40,volume=0.02"],
    ...["-f", "lavfi", "-i", "anoisesrc=duration=65.8:amplitude=0.5:sample_rate=44100:seed=1"],
    ...["-filter_complex", "[0][1]concat=n=2:v=0:a=1", "-c:a", "aac", "-b:a", "128k"],
  ]);
}

test("raw sound can be trimmed to its very end", async () => {
  const path = await unevenClip();
  const end = Math.round(FRAMES * FRAME * 1e6) / 1e6;
  const options = { format: "flac", start: end - 2 };
  const output = await rig.door.encode({ input: rig.serve(path), kind: "audio", options });
  expect(output.task.steps[0]?.output).toMatchObject({ format: "aac", duration: end });
  const [got, all] = await Promise.all([readSound(output.path, PLAIN), readSound(path, PLAIN)]);
  expect(got.duration).toBeCloseTo(2, 3);
  const tail = all.channels.map((samples) => samples.subarray(-got.sample_rate * 2));
  for (const { correlation, lag } of compareSound(got, { ...all, channels: tail })) {
    expect(correlation).toBeGreaterThan(0.99);
    expect(Math.abs(lag)).toBeLessThanOrEqual(0.001);
  }
});

test("measures raw sound that is too large for a probe during its ingest", async () => {
  const copies = 28;
  const large = await keepClip("aac", `${copies} times the uneven raw sound`, async (path) => {
    const bytes = await readFile(await unevenClip());
    await writeFile(path, Buffer.concat(Array(copies).fill(bytes)));
  });
  const input = { url: rig.serve(large) };
  const probe = await rig.door.runStep({ kind: "probe", input });
  expect(probe.output).toMatchObject({ duration_estimated: true });
  const ingest = await rig.door.runStep({ kind: "ingest", input: probe.output as Source });
  const { duration, duration_estimated } = ingest.output as Source;
  expect(duration).toBeCloseTo(copies * FRAMES * FRAME, 4);
  expect(duration_estimated).toBeUndefined();
});

test("layer I of MPEG audio is no MP3, and is decoded", async () => {
  // ffmpeg has no encoder for it: a hundred frames of silence, 384 samples at 48 kHz in 384 bytes.
  const silence = await keepClip("mp1", "silence in layer I", async (path) => {
    const frame = Buffer.alloc(384);
    frame.writeUInt32BE(0xffffc400);
    await writeFile(path, Buffer.concat(Array(100).fill(frame)));
  });
  const output = await rig.door.encode({
    input: rig.serve(silence),
    kind: "audio",
    options: { format: "wav" },
  });
  expect(output.task.steps[0]?.output).toMatchObject({ codecs: { audio: "mp1" } });
  expect((await readSound(output.path, { channels: 2, sample_rate: 48_000 })).duration).toBeCloseTo(0.8, 3);
});
