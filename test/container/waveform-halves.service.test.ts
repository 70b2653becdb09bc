import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { PEAKS_HEADER, readPeaksHeader } from "../../src/encoders/waveform.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { measurePeaks } from "../judge/peaks.ts";
import { startRig, until } from "./rig.ts";

const rig = await startRig({ PLACES: "1" });
afterAll(() => rig.close());

const SECONDS = 660;
const RATE = 22_050;
const noise = ["-f", "lavfi", "-i", `anoisesrc=d=${SECONDS}:c=pink:r=${RATE}:a=0.7:seed=3`];
// The frames of a variable bit rate share their bits with those before.
const long = await makeClip("mp3", [...noise, "-c:a", "libmp3lame", "-q:a", "7"]);

const LIMIT = { timeout: 120_000 };

async function peaksOf({ id, name }: NativeJob) {
  const bytes = new Uint8Array(await readFile(join(rig.sink.folder, id, String(name))));
  return { ...readPeaksHeader(bytes), data: [...new Int16Array(bytes.slice(PEAKS_HEADER).buffer)] };
}

test.for<OptionsOf<"waveform">>([{}, { points: 1000, bits: 8 }, { pixels_per_second: 7 }])(
  "the halves of a long MP3 are measured at the same time, point for point as in one run: %o",
  LIMIT,
  async (options) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const pause = { from: 1_000_000, until: promise };
    const job = await rig.job(long, "waveform", options, (plain) => ({ ...plain, pause }));
    const done = rig.run(job);
    await until(async () => (await rig.ffmpegs()).length === 2);
    resolve();
    const state = await done;
    const { data, ...header } = await peaksOf(job);
    const expected = await measurePeaks(long, { channels: 1, samples_per_pixel: header.samples_per_pixel });
    expect(header).toMatchObject({ channels: 1, sample_rate: RATE, samples: expected.samples });
    expect(data).toEqual(expected.data);
    expect(state).toMatchObject({ state: "done", tally: { sound: expect.closeTo(SECONDS, 0) } });
    expect(await rig.left()).toEqual([]);
  },
);

test("an MP3 that is damaged in its first half is measured in one run", LIMIT, async () => {
  const bytes = await readFile(long);
  const damaged = join(rig.home, "..", `framewright-damaged-${process.pid}.mp3`);
  bytes.fill(0, 400_000, 420_000);
  await writeFile(damaged, bytes);
  const job = await rig.job(damaged, "waveform");
  expect(await rig.run(job)).toMatchObject({ state: "done" });
  const { data, samples } = await peaksOf(job);
  const expected = await measurePeaks(damaged, { channels: 1, samples_per_pixel: 256 });
  expect(samples).toBe(expected.samples);
  expect(samples).toBeLessThan(SECONDS * RATE - 10_000);
  expect(data).toEqual(expected.data);
});

test("an MP3 that is shorter than its estimated duration is measured in one run", LIMIT, async () => {
  const { plan, source, ...job } = await rig.job(long, "waveform");
  const seconds = 3 * SECONDS;
  const longer = {
    ...job,
    plan: { ...plan, duration: seconds },
    source: { ...source, duration: seconds, duration_estimated: true },
  };
  expect(await rig.run(longer)).toMatchObject({ state: "done" });
  const { data } = await peaksOf(longer);
  expect(data).toEqual((await measurePeaks(long, { channels: 1, samples_per_pixel: 256 })).data);
});
