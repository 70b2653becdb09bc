import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { VideoFormat } from "../../src/media/formats.ts";
import type { VideoOptions } from "../../src/media/options.ts";
import { stitch } from "../../src/mux/stitch.ts";
import type { ByteReader } from "../../src/runs/ports.ts";
import { encode } from "../ffmpeg/native-encode.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { noiseClip } from "../judge/clips.ts";
import { readBoxes, readContainer } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { ALIKE_SOUND, LIKE } from "../judge/limits.ts";
import { runNative } from "../judge/native.ts";
import { compareSound, readSound } from "../judge/sound.ts";

const home = await mkdtemp(join(tmpdir(), "framewright-stitch-"));
afterAll(() => rm(home, { recursive: true }));

/** Opens a file as a reader that counts the requested bytes. */
function readerOf(path: string): ByteReader & { requested: number } {
  const bytes = new Uint8Array(readFileSync(path));
  return {
    size: bytes.length,
    requested: 0,
    async read({ start, end }) {
      this.requested += Math.min(end, bytes.length) - start;
      return bytes.slice(start, end);
    },
  };
}

/** Encodes a file in one pass, and in chunks that are stitched. */
async function bothWays(input: string, options: VideoOptions, chunk_seconds: number) {
  const whole = await encode(input, "video", options, { toolset: WASM_TOOLS });
  const { plan, chunks } = await encode(input, "video", options, { toolset: WASM_TOOLS, chunk_seconds });
  const video = chunks
    .filter(({ chunk }) => chunk.track === "video")
    .map(({ chunk, path }) => ({ input: readerOf(path), at: chunk.start - plan.start }));
  const sound = chunks.find(({ chunk }) => chunk.track === "audio");
  const audio = sound ? readerOf(sound.path) : null;
  const path = join(home, `${Math.random()}.${plan.format}`);
  const stream = stitch({ format: plan.format as VideoFormat, video, audio });
  await writeFile(path, new Uint8Array(await new Response(stream).arrayBuffer()));
  return { whole: whole.path, path, video, format: plan.format };
}

const seconds = z.coerce.number();
const Packets = z.object({
  packets: z.array(
    z.object({
      codec_type: z.string(),
      pts_time: seconds,
      dts_time: seconds,
      flags: z.string(),
      data_hash: z.string(),
    }),
  ),
});

const CASES: { name: ClipName; options: VideoOptions }[] = [
  { name: "mp4_b_frames", options: { format: "mp4", width: 80 } },
  { name: "mp4_b_frames", options: { format: "mov", quality: "high" } },
  { name: "mp4_b_frames", options: { format: "webm", quality: "high" } },
  { name: "mp4_vfr", options: { format: "mp4", width: 80 } },
  { name: "mp4_vfr", options: { format: "webm", width: 80 } },
  { name: "mp4_vfr", options: { format: "mp4", fps: 29.97 } },
  { name: "mp4", options: { format: "mp4", fps: 10, start: 0.51, end: 3.3 } },
  { name: "webm", options: { format: "mp4", start: 0.3 } },
  { name: "mp4_silent", options: { format: "mp4", width: 80 } },
];

test.concurrent.for(CASES)(
  "chunks of $name with $options match one pass",
  async ({ name, options }, { expect }) => {
    const input = await clip(name, { seconds: 4 });
    const { whole, path, video, format } = await bothWays(input, options, 0.9);
    expect(video.length).toBeGreaterThan(2);
    expect(await readContainer(path)).toBe(format);
    const [one, parts] = [await readFacts(whole), await readFacts(path)];
    expect(parts.picture).toMatchObject({ width: one.picture?.width, height: one.picture?.height });
    expect(parts.sound).toEqual(
      one.sound && expect.objectContaining({ codec: one.sound.codec, channels: 2 }),
    );
    // No frame may be lost, doubled or moved.
    const times = parts.picture?.times ?? [];
    expect(times).toHaveLength(one.picture?.times.length ?? 0);
    for (const [index, time] of times.entries()) {
      expect(Math.abs(time - (one.picture?.times[index] ?? Number.NaN))).toBeLessThan(0.0011);
    }
    const like = await measureLikeness(path, whole);
    expect(like.worst).toBeGreaterThan(LIKE);
    // ffmpeg decodes everything without a warning.
    expect((await runNative(["-v", "warning", "-i", path, "-f", "null", "-"])).log).toBe("");
    if (format === "webm") {
      expect(Math.abs(parts.duration - one.duration)).toBeLessThan(0.05);
      const bytes = readFileSync(path);
      // The ids of Cues and of their SeekHead entry.
      expect(bytes.includes(Buffer.from("1c53bb6b", "hex"))).toBe(true);
      expect(bytes.subarray(0, 4096).includes(Buffer.from("53ab841c53bb6b", "hex"))).toBe(true);
      return;
    }
    // The index comes first.
    const boxes = await readBoxes(path);
    expect(boxes.slice(0, 2)).toEqual(["ftyp", "moov"]);
    expect(boxes.at(-1)).toBe("mdat");
  },
);

test.concurrent.for(["mp4", "webm"] as const)("audio stays in sync in %s", async (format, { expect }) => {
  const input = await noiseClip(3);
  const { whole, path } = await bothWays(input, { format, quality: "high", width: 80 }, 1);
  const as = { channels: 2, sample_rate: 8000 };
  const [got, expected] = await Promise.all([readSound(path, as), readSound(whole, as)]);
  for (const echo of compareSound(got, expected)) {
    expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    expect(echo.lag).toBe(0);
  }
  const start = async (file: string) => (await readFacts(file)).picture?.times[0] ?? Number.NaN;
  expect(Math.abs((await start(path)) - (await start(whole)))).toBeLessThan(0.001);
});

test("keeps sound that outlasts the pictures", async () => {
  const input = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=s=160x90:r=25:d=1 -f lavfi -i sine=d=4".split(" "),
    ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac".split(" "),
  ]);
  const { path, video } = await bothWays(input, { width: 80 }, 1);
  expect(video).toHaveLength(4);
  const { picture } = await readFacts(path);
  expect(picture?.times).toHaveLength(25);
  expect((await readSound(path, { channels: 1, sample_rate: 8000 })).duration).toBeGreaterThan(3.9);
});

test("copying parts by their tables gives the same packets as packet by packet", async () => {
  const { chunks, plan } = await encode(
    await noiseClip(3),
    "video",
    { quality: "high", width: 80 },
    {
      chunk_seconds: 1,
    },
  );
  const parts = () => {
    const video = chunks
      .filter(({ chunk }) => chunk.track === "video")
      .map(({ chunk, path }) => ({ input: readerOf(path), at: chunk.start - plan.start }));
    const sound = chunks.find(({ chunk }) => chunk.track === "audio");
    return { video, audio: sound ? readerOf(sound.path) : null };
  };
  const packetsOf = async (format: "mp4" | "mov") => {
    const input = parts();
    const path = join(home, `${Math.random()}.${format}`);
    let waits = 0;
    const onWait = () => waits++;
    await writeFile(path, new Uint8Array(await read(stitch({ format, ...input, onWait }))));
    expect(waits).toBeGreaterThan(0);
    const shown = "packet=codec_type,pts_time,dts_time,flags,data_hash";
    const report = await runFfprobe(path, ["-show_data_hash", "md5", "-show_entries", shown]);
    const { packets } = Packets.parse(report);
    const track = (kind: string) =>
      packets
        .filter(({ codec_type }) => codec_type === kind)
        .map(({ pts_time, dts_time, ...packet }) => ({
          ...packet,
          shown: pts_time.toFixed(4),
          decoded: dts_time.toFixed(4),
        }));
    return { video: track("video"), audio: track("audio"), input };
  };
  // MOV output from MP4 parts takes the path for unknown files, packet by packet.
  const [tables, packets] = [await packetsOf("mp4"), await packetsOf("mov")];
  expect(tables.video).toHaveLength(75);
  expect(tables.video).toEqual(packets.video);
  expect(tables.audio).toEqual(packets.audio);
  // Reads the index, and then each part's data only once.
  for (const { input } of tables.input.video) expect(input.requested).toBeLessThan(2 * input.size);
});

test("a file and its tracks have the creation time of the source, or none", async () => {
  const created = "2020-02-03T04:05:06.000000Z";
  const path = join(home, "made.mov");
  for (const { tags, times } of [
    { tags: { creation_time: created }, times: [created, created, created] },
    { tags: {}, times: [undefined, undefined, undefined] },
  ]) {
    const input = readerOf(await clip("mp4", { seconds: 1 }));
    const metadata = { tags, cover: null, language: undefined };
    const stream = stitch({ format: "mov", video: [{ input, at: 0 }], audio: input, metadata });
    await writeFile(path, new Uint8Array(await read(stream)));
    const shown = "format_tags=creation_time:stream_tags=creation_time";
    const { format, streams } = Tagged.parse(await runFfprobe(path, ["-show_entries", shown]));
    expect([format, ...streams].map((each) => each.tags?.creation_time)).toEqual(times);
  }
});

const tagged = z.object({ tags: z.object({ creation_time: z.string().optional() }).optional() });
const Tagged = z.object({ format: tagged, streams: z.array(tagged) });

const fault = { name: "MediaError", kind: "encode_failed" };
const read = (stream: ReadableStream<Uint8Array>) => new Response(stream).arrayBuffer();

async function encodeChunks(options: VideoOptions) {
  const { chunks, plan } = await encode(await clip("mp4_silent", { seconds: 4 }), "video", options, {
    chunk_seconds: 1,
  });
  return chunks.map(({ chunk, path }) => ({ input: readerOf(path), at: chunk.start - plan.start }));
}

test("rejects chunks that do not fit together", async () => {
  const [first, second] = await encodeChunks({ width: 80 });
  const [other] = await encodeChunks({ width: 40 });
  if (!first || !second || !other) throw new Error("too few chunks");
  const all = (...video: (typeof first)[]) => read(stitch({ format: "mp4", video, audio: null }));
  await expect(all(first, { ...other, at: 1 })).rejects.toMatchObject({
    ...fault,
    message: expect.stringContaining("different ways"),
  });
  await expect(all(first, { ...second, at: 0.5 })).rejects.toMatchObject({
    ...fault,
    message: expect.stringContaining("overlap"),
  });
  await expect(all()).rejects.toMatchObject({ ...fault, message: expect.stringContaining("no pictures") });
});

test("rejects damaged chunks and invalid audio", async () => {
  const [first, second] = await encodeChunks({ width: 80 });
  if (!first || !second) throw new Error("too few chunks");
  const broken: ByteReader = {
    size: second.input.size,
    read: async ({ start, end }) => new Uint8Array(end - start),
  };
  await expect(
    read(stitch({ format: "mp4", video: [{ ...first, input: broken }], audio: null })),
  ).rejects.toMatchObject(fault);
  const video = [first, second];
  await expect(read(stitch({ format: "mp4", video, audio: broken }))).rejects.toMatchObject(fault);
  const lost: ByteReader = { size: second.input.size, read: () => Promise.reject(new Error("gone")) };
  await expect(
    read(stitch({ format: "mp4", video: [first, { ...second, input: lost }], audio: null })),
  ).rejects.toMatchObject(fault);
});

test("an aborted stitch errors with its reason", async () => {
  const video = await encodeChunks({ width: 80 });
  const stop = new AbortController();
  const reason = new Error("stopped");
  const slow = video.map(({ input, at }, index) => ({
    at,
    input: {
      size: input.size,
      async read(range: { start: number; end: number }) {
        if (index === 2) stop.abort(reason);
        return input.read(range);
      },
    },
  }));
  await expect(read(stitch({ format: "mp4", video: slow, audio: null, signal: stop.signal }))).rejects.toBe(
    reason,
  );
});

test("cancelling the stream ends it", async () => {
  const video = await encodeChunks({ width: 80 });
  const stream = stitch({ format: "mp4", video, audio: null });
  const reader = stream.getReader();
  expect((await reader.read()).done).toBe(false);
  await reader.cancel();
  expect(await reader.read()).toEqual({ done: true, value: undefined });
});
