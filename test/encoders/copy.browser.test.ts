import { mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createCopyEncoder } from "../../src/encoders/copy.ts";
import type { VideoOptions } from "../../src/media/options.ts";
import type { ByteReader } from "../../src/runs/ports.ts";
import { openLab } from "../browser/lab.ts";
import { encode } from "../ffmpeg/native-encode.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { lateClip, noiseClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { runNative } from "../judge/native.ts";
import { soundLag } from "../judge/sound.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probe, probeFile } from "../probe/probe-file.ts";

const folder = mkdtempSync(join(tmpdir(), "framewright-copy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const copier = createCopyEncoder();
const { signal } = new AbortController();

async function readerOf(path: string): Promise<ByteReader> {
  const bytes = await readFile(path);
  return {
    size: bytes.length,
    read: async ({ start, end }) => bytes.subarray(start, Math.min(end, bytes.length)),
  };
}

/** Returns checksums of the decoded frames without their times, which Matroska rounds to milliseconds. */
async function decoded(path: string, stream: "v" | "a"): Promise<string[]> {
  const { output } = await runNative(["-i", path, "-map", `0:${stream}`, "-f", "framemd5", "-"]);
  const lines = output.toString().split("\n");
  return lines
    .filter((line) => line && !line.startsWith("#"))
    .map((line) => line.split(",").at(-1)?.trim() ?? "");
}

async function copy(path: string, options: VideoOptions) {
  const { source } = await probeFile(path);
  const plan = createPlan(source, "video", options);
  expect(copier.refuse(plan, source)).toBeNull();
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("the plan has no chunk");
  const body = await copier.encode({ plan, chunk, source, input: await readerOf(path), signal });
  const out = join(folder, `${basename(path)}.${plan.format}`);
  await writeFile(out, new Uint8Array(await new Response(body as ReadableStream<Uint8Array>).arrayBuffer()));
  return { path, source, out, copied: await probe(out) };
}

test.each<{ name: ClipName; format: "mp4" | "mov" | "webm" }>([
  { name: "mp4", format: "mov" },
  { name: "mp4", format: "mp4" },
  { name: "webm", format: "webm" },
  { name: "mkv", format: "mp4" },
  { name: "mp4_fragmented", format: "mp4" },
])("copies $name into $format with identical pictures and samples", async ({ name, format }) => {
  const path = await clip(name);
  const { source, out, copied } = await copy(path, { format });
  expect(copied.format).toBe(format);
  expect(copied.codecs).toEqual(source.codecs);
  expect([copied.width, copied.height]).toEqual([source.width, source.height]);
  expect(copied.duration).toBeCloseTo(source.duration ?? 0, 1);
  expect(await decoded(out, "v")).toEqual(await decoded(path, "v"));
  const [before, after] = [await decoded(path, "a"), await decoded(out, "a")];
  expect(after).toHaveLength(before.length);
  // WebM's DiscardPadding trims the end of Opus and is not copied, so up to 20 ms of silence remain.
  const whole = format === "webm" ? -1 : before.length;
  expect(after.slice(0, whole)).toEqual(before.slice(0, whole));
});

test("keeps the rate and the end of a video whose last decoded picture is not the last one shown", async () => {
  const picture = ["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=2.04"];
  const groups = ["-c:v", "libx264", "-x264-params", "b-adapt=0:bframes=1:scenecut=0"];
  const sound = ["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=2.04", "-c:a", "aac"];
  const path = await makeClip("mp4", [...picture, ...sound, ...groups]);
  const { source, copied, out } = await copy(path, { format: "mp4" });
  const { picture: shown } = await readFacts(out);
  expect([source.fps, copied.fps, copied.duration]).toEqual([25, 25, source.duration]);
  expect(shown?.times.at(-1)).toBe(2);
});

test.each([
  { name: "mkv", more: {} },
  { name: "mp4", more: {} },
  { name: "mp4", more: { mute: true } },
  { name: "webm", more: {} },
] as const)(
  "a copy of a $name that starts late starts at once, as ffmpeg's does: $more",
  async ({ name, more }) => {
    const options = { mode: "copy", ...more } as const;
    const path = await lateClip(name, name === "webm" ? await clip(name) : await noiseClip(2));
    const [{ out }, native] = [await copy(path, options), await encode(path, "video", options)];
    const [got, expected] = [await readFacts(out), await readFacts(native.path)];
    expect(got.picture?.times).toHaveLength(50);
    for (const [index, time] of (got.picture?.times ?? []).entries())
      expect(Math.abs(time - (expected.picture?.times[index] ?? Number.NaN))).toBeLessThan(0.0011);
    expect(got.picture?.duration).toBeCloseTo(2, 2);
    expect(Math.abs(got.duration - expected.duration)).toBeLessThan(0.03);
    if ("mute" in more) return;
    // Opus begins 7 ms before 0, which a copy shows as sound.
    expect(Math.abs(await soundLag(out, native.path))).toBeLessThan(name === "webm" ? 0.008 : 0.0011);
  },
);

test.each([{ width: 80 }, { format: "webm" }] as const)("refuses a video with %o", async (options) => {
  const source = await probe(await clip("mp4"));
  expect(copier.refuse(createPlan(source, "video", options), source)).toEqual({
    code: "needs_encoding",
    track: "video",
  });
});

test("refuses surround sound, which needs a downmix", async () => {
  const source = await probe(await clip("mp4_surround"));
  expect(copier.refuse(createPlan(source, "video", {}), source)).toEqual({
    code: "needs_encoding",
    track: "audio",
  });
});

test.each([{ postroll: 1 }, { preroll: 1, fragmented: true }] as const)(
  "refuses packets that an edit list hides where it cannot hide them: %o",
  async (facts) => {
    const source = { ...(await probe(await clip("mp4"))), ...facts };
    expect(copier.refuse(createPlan(source, "video", { mode: "copy" }), source)).toEqual({
      code: "other_work",
    });
  },
);

test.each(["flv", "mpegts"] as const)("refuses %s, whose packets it cannot copy", async (format) => {
  const source = await probe(await clip(format));
  expect(copier.refuse(createPlan(source, "video", { mode: "copy" }), source)).toEqual({
    code: "input_format",
    format,
  });
});

test.each<{ name: ClipName; format: "mp4" | "mov" }>([
  { name: "mp4_faststart", format: "mov" },
  { name: "mp4_faststart", format: "mp4" },
  { name: "mp4_fragmented", format: "mp4" },
])("reports a $name that is cut off when copying it into $format", async ({ name, format }) => {
  const path = await clip(name);
  const source = await probe(path);
  const plan = createPlan(source, "video", { format });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("the plan has no chunk");
  const whole = await readerOf(path);
  const size = Math.floor(whole.size * 0.6);
  const cut: ByteReader = { size, read: ({ start, end }) => whole.read({ start, end: Math.min(end, size) }) };
  const body = await copier.encode({ plan, chunk, source, input: cut, signal });
  await expect(new Response(body as ReadableStream<Uint8Array>).arrayBuffer()).rejects.toMatchObject({
    kind: "input_unsupported",
    message: "The input cannot be read to its end: it is damaged or cut off.",
  });
});

test("copies a file in a page in Chromium", async () => {
  const path = await clip("mp4", { seconds: 4 });
  const source = await probe(path);
  const plan = createPlan(source, "video", { format: "mov" });
  const lab = await openLab({ files: dirname(path) });
  try {
    const copied = await lab.page.evaluate(
      async ({ plan, source, url }) => {
        const { createCopyEncoder } = await import("../../src/encoders/copy.ts");
        const { createBlobReader } = await import("../../src/storage/readers.ts");
        const reader = createBlobReader(await (await fetch(url)).blob());
        const [chunk] = plan.chunks;
        if (!chunk) throw new Error("the plan has no chunk");
        const { signal } = new AbortController();
        const body = await createCopyEncoder().encode({ plan, chunk, source, input: reader, signal });
        const bytes = new Uint8Array(await new Response(body as ReadableStream<Uint8Array>).arrayBuffer());
        return Array.from(bytes);
      },
      { plan, source, url: `/files/${basename(path)}` },
    );
    const out = join(folder, "page.mov");
    await writeFile(out, new Uint8Array(copied));
    expect(await decoded(out, "v")).toEqual(await decoded(path, "v"));
    expect(await decoded(out, "a")).toEqual(await decoded(path, "a"));
    expect(lab.complaints).toEqual([]);
  } finally {
    await lab.close();
  }
});
