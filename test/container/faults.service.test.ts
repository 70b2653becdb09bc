import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import type { ErrorReason } from "../../src/media/error-reason.ts";
import type { ErrorKind } from "../../src/media/errors.ts";
import { clip } from "../fixtures/clips.ts";
import { heicOf } from "../fixtures/heic.ts";
import { hugeMp4 } from "../fixtures/huge.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { movingWebp } from "../fixtures/moving-webp.ts";
import { noiseSound } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { type Rig, startRig, until } from "./rig.ts";

const rig = await startRig({ PLACES: "4", STALL_SECONDS: "2" });
const small = await startRig({ MAX_FILE_BYTES: "20000" });
const tight = await startRig({ MAX_MEMORY_BYTES: String(96 * 2 ** 20) });
// ffmpeg itself, except that its output goes to a disk without room: a link to /dev/full. The writer of
// adaptive video replaces links with new files, so there the first segments are truncated afterwards, as a
// small disk leaves them.
const bin = await mkdtemp(join(tmpdir(), "framewright-bin-"));
const wrapper = `#!/bin/sh
PATH="\${PATH#*:}"
for each; do case "$each" in out/*) last=$each;; esac; done
case "$last" in
  out/%v/*) ffmpeg "$@"; code=$?; for file in out/*/seg_00000.m4s; do truncate -s 1000 "$file"; done; exit "$code";;
  out/*) ln -s /dev/full "$last";;
esac
exec ffmpeg "$@"
`;
await writeFile(join(bin, "ffmpeg"), wrapper, { mode: 0o755 });
// Prints nothing and computes nothing.
await writeFile(join(bin, "heif-info"), "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 });
const full = await startRig({ PATH: `${bin}:${process.env.PATH}`, STALL_SECONDS: "2" });
afterAll(async () => {
  await Promise.all([rig, small, tight, full].map((each) => each.close()));
  await rm(bin, { recursive: true });
});

afterEach(async () => {
  rig.sink.fail(null);
  for (const each of [rig, small, tight, full]) {
    await until(async () => (await each.ffmpegs()).length === 0);
    expect(await each.left()).toEqual([]);
  }
});

const failed = (
  kind: ErrorKind,
  retryable: boolean,
  message: unknown = expect.any(String),
  reason?: ErrorReason,
) => ({
  state: "failed",
  error: { kind, message, retryable, ...(reason && { reason }) },
});
const unanswered = (from: "source" | "output", url: string): ErrorReason => ({
  code: "no_answer",
  from,
  host: new URL(url).host,
});

// Three megabytes, so that it is read in several parts.
const large = () => noiseSound("wav", 20);
// The tiles count as pictures too, so the decoder writes several.
const PHOTO = { tile: { width: 80, height: 90 }, width: 160, height: 90, loose: true } as const;
// Several seconds of work.
const heavy = () => clip("mp4", { size: "1280x720", seconds: 8 });

async function begin(each: Rig, job: Awaited<ReturnType<Rig["job"]>>): Promise<number> {
  expect((await each.call("POST", "/jobs", job)).status).toBe(202);
  return until(async () => (await each.ffmpegs())[0]);
}

test("a killed ffmpeg is retryable", async () => {
  const job = await rig.job(await heavy(), "video", { codec: "h265" });
  process.kill(await begin(rig, job), "SIGKILL");
  expect(await rig.finish(job.id)).toEqual(failed("worker_lost", true));
});

test("a crashed ffmpeg is not retryable", async () => {
  const job = await rig.job(await heavy(), "video", { codec: "h265" });
  process.kill(await begin(rig, job), "SIGSEGV");
  const message = "ffmpeg crashed (SIGSEGV).";
  expect(await rig.finish(job.id)).toEqual(failed("encode_failed", false, message));
});

test("ends a stalled ffmpeg", { timeout: 40_000 }, async () => {
  const job = await rig.job(await heavy(), "video", { codec: "h265" });
  const pid = await begin(rig, job);
  process.kill(pid, "SIGSTOP");
  // Two seconds of stall time, and five until an ffmpeg that does not end is killed.
  const message = "ffmpeg made no progress for 2 s and was terminated.";
  expect(await rig.finish(job.id)).toEqual(failed("stalled", true, message));
});

test("ends a program that reads which picture of a HEIC comes first, once it stalls", async () => {
  const file = await heicOf(await clip("png"), PHOTO);
  const job = await full.job(await clip("png"), "image", {}, () => ({ file }));
  const input = { ...job.input, size: (await stat(file)).size };
  const source = { ...job.source, format: "heic" };
  const message = "ffmpeg made no progress for 2 s and was terminated.";
  expect(await full.run({ ...job, input, source })).toEqual(failed("stalled", true, message));
});

test.for([
  { kind: "video", options: { codec: "h264" } },
  { kind: "audio", options: { format: "wav" } },
  { kind: "adaptive_video", options: {} },
] as const)("fails if an output file of $kind becomes too large", async ({ kind, options }) => {
  const job = await small.job(await clip("mp4", { size: "320x180", seconds: 2 }), kind, options);
  expect(await small.run(job)).toEqual(failed("storage_full", false));
  expect((await small.sink.files()).filter((path) => path.startsWith(job.id))).toEqual([]);
});

test.for([
  { kind: "video", options: { width: 80 } },
  { kind: "video", options: { width: 80, format: "webm" } },
  { kind: "audio", options: { format: "wav" } },
  { kind: "image", options: { format: "png" } },
  { kind: "adaptive_video", options: {} },
] as const)("reports a full disk for $kind $options", async ({ kind, options }) => {
  const job = await full.job(await clip("mp4", { size: "320x180", seconds: 2 }), kind, options);
  const message = "The encoder's disk has no room for the output.";
  expect(await full.run(job)).toEqual(failed("storage_full", false, message));
  expect((await full.sink.files()).filter((path) => path.startsWith(job.id))).toEqual([]);
});

test("reports too little memory", async () => {
  const job = await tight.job(await heavy(), "video", { codec: "av1", end: 2 });
  expect(await tight.run(job)).toEqual(failed("out_of_memory", false));
});

test("resumes a source that breaks off once", async () => {
  const input = await large();
  const job = await rig.job(input, "audio", { format: "wav" }, (answer) => (request) => {
    return request % 2 === 1 ? { ...answer, cut_after: 300_000 } : answer;
  });
  expect(await rig.run(job)).toMatchObject({ state: "done" });
  const output = await readFile(join(rig.sink.folder, job.id, "output.wav"));
  expect(output.length).toBeGreaterThan(3_000_000);
});

test("a source that dies halfway is unreachable", async () => {
  const input = await large();
  const job = await rig.job(input, "audio", { format: "wav" }, (answer) => (request) => {
    return request < 2 ? answer : { ...answer, cut_after: 0 };
  });
  expect(await rig.run(job)).toEqual(failed("input_unreachable", true));
  expect(await rig.sink.files()).not.toContain(`${job.id}/output.wav`);
});

test.for([
  { name: "another ETag", change: { etag: '"v2"' } },
  { name: "another size", change: { etag: null, file: new Uint8Array(5_000_000) } },
] as const)("rejects a source that changes: $name", async ({ change }) => {
  const job = await rig.job(await large(), "audio", { format: "wav" }, (answer) => (request) => {
    return request < 1 ? answer : { ...answer, ...change };
  });
  const message = expect.stringContaining("changed after it was probed");
  expect(await rig.run(job)).toEqual(failed("input_changed", false, message));
});

test.for([
  { status: 404, kind: "input_not_found" },
  { status: 403, kind: "input_forbidden" },
  { status: 400, kind: "input_unreachable" },
] as const)("a source that answers $status is $kind", async ({ status, kind }) => {
  const job = await rig.job(await clip("mp4"), "video", { width: 80 }, () => ({ status }));
  expect(await rig.run(job)).toEqual(failed(kind, false));
});

test("follows no redirect of a source", async () => {
  const path = await clip("mp4");
  const elsewhere = rig.origin.serve("/elsewhere", { file: path });
  const job = await rig.job(path, "video", { width: 80 }, () => ({ redirect: elsewhere }));
  const message = expect.stringContaining("must not be redirected");
  expect(await rig.run(job)).toEqual(failed("input_forbidden", false, message));
  expect(rig.origin.log.filter((request) => request.path === "/elsewhere")).toEqual([]);
});

test("reports a source at a closed port without showing its query", async () => {
  const job = await rig.job(await clip("mp4"), "video", { width: 80 });
  const input = { ...job.input, url: "http://127.0.0.1:1/clip?secret=abc" };
  const state = await rig.run({ ...job, input });
  expect(state).toEqual(
    failed("input_unreachable", true, expect.any(String), unanswered("source", input.url)),
  );
  expect(JSON.stringify(state)).not.toContain("secret");
});

test("rejects a damaged source", async () => {
  const bytes = (await readFile(await clip("mp4"))).fill(7, 100);
  const job = await rig.job(await clip("mp4"), "video", { width: 80 }, (answer) => ({
    ...answer,
    file: bytes,
  }));
  expect(await rig.run(job)).toEqual(failed("input_unsupported", false));
});

// The position of the canvas's width and height, each less by one, and of those of the first frame.
const [CANVAS, FRAME] = [24, 14] as const;
test.for([
  {
    name: "whose canvas needs more memory than there is",
    canvas: 65_535,
    frame: null,
    after: "",
    expected: failed("out_of_memory", true),
  },
  {
    name: "with a still larger than its frame",
    canvas: null,
    frame: 0,
    after: "",
    expected: failed("input_unsupported", false),
  },
  {
    name: "with something after its end",
    canvas: null,
    frame: null,
    after: "anything at all",
    expected: expect.objectContaining({ state: "done" }),
  },
] as const)("decodes an animated WebP $name as far as it can", async ({ canvas, frame, after, expected }) => {
  const file = Buffer.concat([await readFile(await movingWebp()), Buffer.from(after)]);
  const first = file.indexOf("ANMF") + FRAME;
  for (const [at, side] of [[CANVAS, canvas] as const, [first, frame] as const]) {
    if (side === null) continue;
    file.writeUIntLE(side, at, 3);
    file.writeUIntLE(side, at + 3, 3);
  }
  const job = await rig.job(await clip("png_odd"), "image", {}, () => ({ file }));
  const input = { ...job.input, size: file.length };
  const source = { ...job.source, format: "webp", animated: true };
  expect(await rig.run({ ...job, input, source })).toEqual(expected);
});

test("does not follow a source that lists other files", async () => {
  const list = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${rig.origin.url}/other.ts\n#EXT-X-ENDLIST\n`;
  const file = Buffer.from(list);
  const job = await rig.job(await clip("mpegts"), "video", { width: 80 }, () => ({ file }));
  const state = await rig.run({ ...job, input: { ...job.input, size: file.length } });
  expect(state).toEqual(failed("input_unsupported", false));
  const hls = { ...job, id: "hls", source: { ...job.source, format: "hls" } };
  expect(await rig.run(hls)).toEqual(failed("input_unsupported", false));
  expect(rig.origin.log.some(({ path }) => path === "/other.ts")).toBe(false);
});

test("reads the pictures of an MP4 from the file itself, whatever its data reference says", async () => {
  const path = await makeClip("mov", "-f lavfi -i testsrc2=size=64x64:duration=1".split(" "));
  const bytes = await readFile(path);
  // The track's data reference says "in this file" by a flag. Without it, and as an alias, the pictures are elsewhere.
  const at = bytes.indexOf("url ");
  bytes.write("alis", at, "latin1");
  bytes.writeUInt32BE(0, at + 4);
  const job = await rig.job(path, "video", { width: 80 }, (answer) => ({ ...answer, file: bytes }));
  const state = await rig.run({ ...job, input: { ...job.input, size: bytes.length } });
  expect(state).toMatchObject({ state: "done", tally: { pictures: { decoded: 25, missing: 0 } } });
});

test.for([
  { fault: { status: 403, kind: "forbidden" }, kind: "upload_forbidden", retryable: false },
  { fault: { status: 507, kind: "storage_full" }, kind: "storage_full", retryable: false },
  { fault: { status: 409, kind: "conflict" }, kind: "upload_failed", retryable: false },
  { fault: { status: 500, kind: "internal_error" }, kind: "upload_failed", retryable: true },
  { fault: "cut", kind: "upload_failed", retryable: true },
] as const)("reports a store that answers $fault as $kind", async ({ fault, kind, retryable }) => {
  const job = await rig.job(await clip("mp4", { seconds: 1 }), "audio", { format: "wav" });
  rig.sink.fail(() => fault);
  const reason = fault === "cut" ? unanswered("output", rig.sink.url) : undefined;
  expect(await rig.run(job)).toEqual(failed(kind, retryable, expect.any(String), reason));
});

test("retries a store that fails now and then", async () => {
  const input = await clip("mp4_b_frames", { seconds: 1 });
  const job = await rig.job(input, "adaptive_video");
  // Two of three tries at each file: files are stored side by side.
  const tries = new Map<string, number>();
  rig.sink.fail(({ path }) => {
    const count = tries.get(path) ?? 0;
    tries.set(path, count + 1);
    return count % 3 === 0 ? { status: 503 } : count % 3 === 1 ? "cut" : null;
  });
  const state = await rig.run(job);
  expect(state).toMatchObject({ state: "done" });
  const names = state.state === "done" ? state.written.map(({ name }) => `${job.id}/${name}`) : [];
  expect((await rig.sink.files()).filter((path) => path.startsWith(job.id))).toEqual(names.sort());
});

test("reads only what it needs of a huge source, each range of the probed version", async () => {
  const input = await clip("mp4", { seconds: 1 });
  const file = await hugeMp4(2 ** 30, input);
  const plain = await rig.job(input, "video", { width: 80 }, (answer) => ({ ...answer, file }));
  const job = { ...plain, input: { ...plain.input, size: file.size } };
  rig.origin.forget();
  expect(await rig.run(job)).toMatchObject({ state: "done" });
  const bytes = rig.origin.log.reduce((sum, request) => sum + request.bytes, 0);
  expect(bytes).toBeLessThan(20 * 2 ** 20);
  const requests = rig.origin.log.map(({ status, headers }) => [status, headers["if-range"]]);
  expect(requests).toEqual(requests.map(() => [206, '"v1"']));
  const path = join(rig.sink.folder, job.id, "output.mp4");
  expect((await readFacts(path)).picture?.times).toHaveLength(25);
});
