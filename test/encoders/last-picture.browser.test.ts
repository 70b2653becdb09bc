import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { PAGE_ENCODER } from "../fixtures/fast-encoder.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { unevenClip } from "../judge/uneven-clips.ts";
import { probeFile } from "../probe/probe-file.ts";
import { fetchStored, trial } from "./encode-trial.ts";

let page: ClientLab;
let service: Rig;
beforeAll(async () => {
  [page, service] = await Promise.all([openClientLab(), openRig()]);
});
afterAll(async () => {
  if (opened) await page.lab.page.evaluate(() => kit.client.close());
  await Promise.all([page?.close(), service?.close()]);
});

// WebM times are milliseconds, those of Chromium's codecs microseconds.
const TICK = 0.001;
// Opus begins 7 ms before 0, which shows in WebM but not in MP4.
const SYNC = 0.008;

/** Checks that a file has the source's pictures up to a time, each at its own time, and lasts until then. */
async function expectPicturesUntil(
  path: string,
  { times, end }: { times: readonly number[]; end: number },
  until = end,
): Promise<void> {
  const { picture, duration } = await readFacts(path);
  const expected = times.filter((time) => time < until);
  const actual = picture?.times ?? [];
  expect(actual).toHaveLength(expected.length);
  for (const [index, time] of actual.entries())
    expect(Math.abs(time - (expected[index] ?? 0)), `picture ${index}`).toBeLessThanOrEqual(TICK);
  expect(Math.abs(duration - until)).toBeLessThanOrEqual(TICK);
}

const FORMATS = ["mp4", "mov", "webm"] as const;
// MOV and fragments are read as MP4 is, and Matroska as WebM, so these go to one format each.
const SOURCES = [
  ["mixed", "mp4", FORMATS],
  ["mixed", "webm", FORMATS],
  ["screen", "webm", FORMATS],
  ["slides", "mp4", FORMATS],
  ["mixed", "mov", ["mov"]],
  ["mixed", "fragmented", ["webm"]],
  ["mixed", "mkv", ["mp4"]],
] as const;

// Alternately whole and trimmed, so that each format and each source is both.
const SERVED = SOURCES.flatMap(([kind, from, formats]) =>
  formats.map((format) => ({ kind, from, format })),
).map((clip, index) =>
  index % 2 === 0 ? { ...clip, part: "whole", end: undefined } : { ...clip, part: "trimmed", end: 5.3 },
);

test.concurrent.for(SERVED)(
  "$part $kind $from as $format in the service",
  async ({ kind, from, format, end }) => {
    const clip = await unevenClip(kind, from);
    const input = service.serve(clip.path);
    const options = { format, quality: "low", ...(end && { end }) };
    const output = await service.door.encode({ input, kind: "video", options });
    await expectPicturesUntil(output.path, clip, end);
    expect(output.task.steps[2]?.output?.duration).toBeCloseTo(end ?? clip.end, 3);
  },
);

test.concurrent("a constant rate repeats the last picture to the end", async () => {
  for (const from of ["mp4", "webm"] as const) {
    const input = service.serve((await unevenClip("mixed", from)).path);
    const { path } = await service.door.encode({ input, kind: "video", options: { fps: 10 } });
    const times = Array.from({ length: 83 }, (_, index) => index / 10);
    expect((await readFacts(path)).picture?.times).toEqual(times);
  }
});

const ANIMATIONS = {
  gif: { rate: 10, args: ["-final_delay", "300"], times: [0, 0.1, 0.2], end: 3.2 },
  webp: { rate: 2, args: ["-c:v", "libwebp_anim"], times: [0, 0.5], end: 1 },
} as const;

test.each(["gif", "webp"] as const)(
  "the last picture of a %s is shown as long in a video",
  async (format) => {
    const { rate, args, ...shown } = ANIMATIONS[format];
    const count = String(shown.times.length);
    const drawn = ["-f", "lavfi", "-i", `testsrc2=s=64x64:r=${rate}`, "-frames:v", count];
    const path = await makeClip(format, [...drawn, ...args, "-loop", "0"]);
    for (const target of ["mp4", "webm"] as const) {
      const request = { input: service.serve(path), kind: "video", options: { format: target } } as const;
      await expectPicturesUntil((await service.door.encode(request)).path, shown);
    }
    const { folder, main } = await inPage(path, "video", { format: "mp4" }, "quality");
    await expectPicturesUntil(join(folder, main), shown);
  },
);

test.concurrent("audio stays in sync with a variable frame rate", async () => {
  for (const from of ["mp4", "mkv", "webm"] as const) {
    const clip = await unevenClip("mixed", from, 6);
    const source = await readFacts(clip.path);
    const input = service.serve(clip.path);
    const { path } = await service.door.encode({ input, kind: "video", options: { quality: "low" } });
    const { picture, duration } = await readFacts(path);
    expect(picture?.times).toHaveLength(20);
    for (const [index, time] of (picture?.times ?? []).entries())
      expect(Math.abs(time - (source.picture?.times[index] ?? 0))).toBeLessThanOrEqual(SYNC);
    expect(Math.abs(duration - source.duration)).toBeLessThanOrEqual(SYNC);
  }
});

test.concurrent("stitched chunks end when the source does", async () => {
  for (const [kind, from, format] of [
    ["mixed", "mp4", "mp4"],
    ["mixed", "webm", "webm"],
    ["slides", "webm", "webm"],
    ["slides", "mkv", "mov"],
  ] as const) {
    const clip = await unevenClip(kind, from);
    const { source } = await probeFile(clip.path);
    const options = { format, quality: "low" };
    const run = await trial(clip.path, "video", options, { source, hints: { chunk_seconds: 3 } });
    expect(run.plan.chunks.length).toBeGreaterThan(1);
    await expectPicturesUntil(await fetchStored(run.storage, (await runEncode(run)).key), clip);
  }
});

const MADE_IN_PAGE = [
  { encoder: PAGE_ENCODER, prefer: "quality", from: "mp4", format: "mp4" },
  { encoder: PAGE_ENCODER, prefer: "quality", from: "webm", format: "webm" },
  { encoder: PAGE_ENCODER, prefer: "quality", from: "mkv", format: "mov" },
  { encoder: "webcodecs", prefer: "speed", from: "mp4", format: "mp4" },
  { encoder: "webcodecs", prefer: "speed", from: "webm", format: "mp4" },
  { encoder: "webcodecs", prefer: "speed", from: "mp4", format: "webm" },
] as const;

test.for(MADE_IN_PAGE)(
  "$encoder for $prefer keeps the end of $from in $format",
  async ({ encoder, prefer, from, format }) => {
    const clip = await unevenClip("mixed", from);
    for (const end of [undefined, 5.3]) {
      const options = { format, quality: "low", ...(end && { end }) };
      const output = await inPage(clip.path, "video", options, prefer);
      expect(output.encoder).toBe(encoder);
      await expectPicturesUntil(join(output.folder, output.main), clip, end);
    }
  },
);

test.for([
  { from: "mkv", format: "mp4" },
  { from: "mkv", format: "mov" },
  { from: "mp4", format: "mov" },
  { from: "fragmented", format: "mp4" },
] as const)("a copy of $from to $format keeps the end", async ({ from, format }) => {
  const clip = await unevenClip("mixed", from);
  const local = await inPage(clip.path, "video", { format }, "quality");
  expect(local.encoder).toBe("copy");
  await expectPicturesUntil(join(local.folder, local.main), clip);
  const output = await service.door.encode({
    ...{ input: service.serve(clip.path), kind: "video" },
    options: { format },
  });
  await expectPicturesUntil(output.path, clip);
});

test.for(["quality", "speed"] as const)(
  "a stream encoded for %s ends when the source does",
  async (prefer) => {
    for (const from of ["mp4", "webm"] as const) {
      const clip = await unevenClip("mixed", from);
      const { folder, names } = await inPage(clip.path, "adaptive_video", {}, prefer);
      const rendition = names.find((name) => name.endsWith("/playlist.m3u8"))?.split("/")[0] ?? "";
      const text = await readFile(join(folder, rendition, "playlist.m3u8"), "utf8");
      const listed = [...text.matchAll(/#EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds));
      expect(listed.reduce((sum, seconds) => sum + seconds, 0)).toBeCloseTo(clip.end, 5);
      const segments = names.filter((name) => name.startsWith(`${rendition}/seg_`)).sort();
      const parts = [`${rendition}/init_0.mp4`, ...segments].map((name) => readFile(join(folder, name)));
      const joined = join(folder, "joined.mp4");
      await writeFile(joined, Buffer.concat(await Promise.all(parts)));
      const { picture, duration } = await readFacts(joined);
      expect(picture?.times).toHaveLength(clip.times.length);
      // The duration counts from the first decoding time, which B-frames move before 0.
      expect(Math.abs(duration - clip.end)).toBeLessThanOrEqual(0.041);
    }
  },
);

let folders = 0;
let opened: "quality" | "speed" | undefined;

// Every new client loads the core, so the current one is reused if possible.
async function openFor(prefer: "quality" | "speed"): Promise<void> {
  if (opened === prefer) return;
  if (opened) await page.lab.page.evaluate(() => kit.client.close());
  await openKit(page.lab.page, { name: "last", prefer, encoderWorkers: 1 });
  opened = prefer;
}

/** Runs a task in a page and writes its files to disk. */
async function inPage(
  path: string,
  kind: "video" | "adaptive_video",
  options: object,
  prefer: "quality" | "speed",
) {
  const url = await page.serve(path);
  await openFor(prefer);
  const result = await page.lab.page.evaluate(
    async ([from, task]) => {
      const { client, base64 } = kit;
      const done = await client.tasks.wait(
        await client.tasks.create({ ...task, input: await kit.file(from) }),
      );
      if (done.status !== "succeeded") throw new Error(JSON.stringify(done.error));
      const output = await client.output(done);
      const files = await Promise.all(
        output.files.map(async (file) => ({ name: file.name, base64: await base64(file.file) })),
      );
      await client.tasks.delete(done.id);
      return { files, encoder: done.steps[2]?.output?.encoder };
    },
    [url, { kind, options }] as const,
  );
  const folder = join(page.folder, "made", String(folders++));
  for (const file of result.files) {
    await mkdir(dirname(join(folder, file.name)), { recursive: true });
    await writeFile(join(folder, file.name), Buffer.from(file.base64, "base64"));
  }
  const names = result.files.map(({ name }) => name);
  expect(page.lab.complaints.splice(0)).toEqual([]);
  return { folder, names, main: names[0] ?? "", encoder: result.encoder };
}
