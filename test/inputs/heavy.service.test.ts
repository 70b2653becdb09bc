import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Source } from "../../src/media/source.ts";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { expectFailure } from "./check.ts";
import { type HeavyRig, startHeavyRig, until } from "./heavy-rig.ts";

let rig: HeavyRig;
// Takes long, so it runs beside all the others on a service of its own and is checked last.
let lost: ReturnType<typeof loseEncoders>;
beforeAll(async () => {
  rig = await startHeavyRig(2, { WATCH_SECONDS: "2" }, { STALL_SECONDS: "3" });
  lost = loseEncoders();
  lost.catch(() => {});
}, 180_000);
afterAll(() => Promise.all([rig?.close(), lost?.then(({ own }) => own.close()).catch(() => {})]));
const HEAVY = { kind: "video", options: { codec: "h265" } } as const;
const SHORT = { seconds: 1 } as const;
// Several seconds of work, in which something can happen.
const LONG = { size: "640x360", seconds: 5 } as const;

let number = 0;
async function start(shape: { size?: string; seconds: number }, on = rig): Promise<Task> {
  const file = await clip("mp4_faststart", shape);
  return on.create({ input: on.origin.serve(`/${number++}.mp4`, { file }), ...HEAVY });
}

// Starts a task when no other runs; returns it and its ffmpeg once some output is written.
async function startEncoding(on = rig): Promise<{ task: Task; pid: number }> {
  const task = await start(LONG, on);
  await until(async () => {
    const { error } = await on.get(task.id);
    if (error) throw new Error(JSON.stringify(error));
    return (await on.left()).some((path) => path.includes("/out/"));
  });
  const [pid, ...more] = on.ffmpegs();
  if (!pid || more.length > 0) throw new Error(`Not one ffmpeg: ${[pid, ...more]}`);
  return { task, pid };
}

async function expectWhole(task: Task, seconds: number, on = rig): Promise<void> {
  expect(task.error).toBeNull();
  expect(task.steps.map(({ status, progress }) => `${status} ${progress}`)).toEqual(
    Array(4).fill("succeeded 100"),
  );
  expect(task.steps[2]?.output).toMatchObject({ encoder: "native" });
  const { picture } = await readFacts((await on.door.fetchFile(task.output ?? "")).path);
  expect(picture).toMatchObject({ codec: "hevc" });
  expect(picture?.times).toHaveLength(seconds * 25);
  expect(on.stored(task.id)).toEqual([expect.stringMatching(`^out/${task.id}/[^/]+$`)]);
}

// Pads a file to a size with an empty box at its end.
function pad(bytes: Buffer, size: number): Buffer {
  const box = Buffer.alloc(size - bytes.length);
  box.writeUInt32BE(box.length);
  box.write("free", 4, "latin1");
  return Buffer.concat([bytes, box]);
}

async function loseEncoders(): Promise<{ own: HeavyRig; ended: Task }> {
  const own = await startHeavyRig(2, { ENCODER_AWAY_SECONDS: "5" });
  try {
    const { task } = await startEncoding(own);
    await Promise.all(own.natives.map((native) => native.kill()));
    return { own, ended: await own.finish(task.id, 150) };
  } catch (thrown) {
    await own.close();
    throw thrown;
  }
}

test.concurrent("storage that rejects everything is upload_failed, after several attempts", async ({
  expect,
}) => {
  const { id } = await start(SHORT);
  let tries = 0;
  rig.gate.rule(id, ({ folder }) => (folder === "out" ? 500 + 3 * (tries++ % 2) : "pass"));
  const task = await rig.finish(id);
  expectFailure(task, "upload_failed", expect);
  expect(task.error?.retryable).toBe(true);
  expect(tries).toBeGreaterThan(2);
  await until(() => rig.stored(id).length === 0);
});

test.concurrent("a source that always breaks off halfway is unreachable", async ({ expect }) => {
  const { id } = await start(SHORT);
  rig.gate.rule(id, ({ folder }) => (folder === "work" ? "half" : "pass"));
  const task = await rig.finish(id);
  expectFailure(task, "input_unreachable", expect);
  expect(task.steps[2]).toMatchObject({ status: "failed", error: { retryable: true } });
  await until(() => rig.stored(id).length === 0);
});

test.concurrent("resumes a source that breaks off now and then", async ({ expect }) => {
  const { id } = await start({ size: "640x360", seconds: 6 });
  let requests = 0;
  rig.gate.rule(id, ({ folder }) => (folder === "work" && requests++ % 2 === 0 ? "half" : "pass"));
  await expectWhole(await rig.finish(id), 6);
  expect(requests).toBeGreaterThan(2);
});

async function serveChanging(change: { same_size: boolean; etags: [string | null, string | null] }) {
  const first = await readFile(await clip("mp4_faststart", { seconds: 1 }));
  const second = await readFile(await clip("mp4_faststart", { seconds: 2, size: "320x180" }));
  const before = change.same_size ? pad(first, second.length) : first;
  const [etag, other] = change.etags;
  return rig.origin.serve(`/changing-${number++}.mp4`, (request) =>
    request === 0 ? { file: before, etag } : { file: second, etag: other },
  );
}

test.concurrent.for([
  ["another size", { same_size: false, etags: ['"v1"', '"v1"'] }],
  ["the same size and another ETag", { same_size: true, etags: ['"v1"', '"v2"'] }],
] as const)("a source that changes to %s fails", async ([, { same_size, etags }], { expect }) => {
  const input = await serveChanging({ same_size, etags: [...etags] });
  const task = await rig.finish((await rig.create({ input, ...HEAVY })).id);
  expectFailure(task, "input_changed", expect);
});

// The probe opens such a file once and reads its start, which takes one request.
test.concurrent("encodes the current version of a source without an ETag that changes after the probe", async ({
  expect,
}) => {
  const input = await serveChanging({ same_size: false, etags: [null, null] });
  const task = await rig.finish((await rig.create({ input, ...HEAVY })).id);
  expect(task.steps[0]?.output).toMatchObject({ width: 160, height: 90, duration: expect.closeTo(1, 1) });
  expect(task.steps[1]?.output).toMatchObject({ width: 320, height: 180, duration: expect.closeTo(2, 1) });
  await expectWhole(task, 2);
});

test.concurrent("encodes a step's source as it really is, whatever its description claims", async ({
  expect,
}) => {
  const url = rig.origin.serve(`/other-${number++}.mp4`, { file: await clip("mp4", SHORT) });
  const claimed: Partial<Source> = {
    ...{ object: "source", url, kind: "video", format: "matroska", width: 1920, height: 1080, fps: 60 },
    ...{ duration: 3600, filesize: 5, codecs: { video: "vp9", audio: null } },
  };
  const step = await rig.door.runStep({ kind: "video", input: claimed, options: HEAVY.options }, 60);
  expect(step.error).toBeNull();
  expect(step.output).toMatchObject({ width: 160, height: 90, encoder: "native" });
  expect(step.output).toMatchObject({ codecs: { video: "h265", audio: "aac" } });
});

test.concurrent("retries storage that fails for a while", async ({ expect }) => {
  const { id } = await start(SHORT);
  const fates = [500, "cut", 503] as const;
  let tries = 0;
  rig.gate.rule(id, ({ method }) => (method === "PUT" ? (fates[tries++] ?? "pass") : "pass"));
  await expectWhole(await rig.finish(id), 1);
  expect(tries).toBeGreaterThan(3);
});

// These run one after another.
test("replaces a killed ffmpeg", async () => {
  const { task, pid } = await startEncoding();
  process.kill(pid, "SIGKILL");
  await until(() => rig.ffmpegs().some((other) => other !== pid));
  await expectWhole(await rig.finish(task.id), LONG.seconds);
});

test("ends and replaces a stalled ffmpeg", async () => {
  const { task, pid } = await startEncoding();
  process.kill(pid, "SIGSTOP");
  await until(() => !rig.ffmpegs().includes(pid));
  await expectWhole(await rig.finish(task.id), LONG.seconds);
});

test("another encoder replaces one that dies after its start", async () => {
  const task = await start(LONG);
  const encoder = await until(() => rig.natives.find((native) => native.ffmpegs().length > 0));
  await encoder.kill();
  // The job's ffmpeg does not outlive the job.
  await until(() => encoder.ffmpegs().length === 0);
  await expectWhole(await rig.finish(task.id), LONG.seconds);
  await encoder.restart();
});

test("losing every encoder is worker_lost; once back they work, and nothing is left", async () => {
  const { own, ended } = await lost;
  expectFailure(ended, "worker_lost", expect);
  expect(ended.error?.retryable).toBe(true);
  await until(() => own.stored(ended.id).length === 0);
  await Promise.all(own.natives.map((native) => native.restart()));
  expect([own.ffmpegs(), await own.left()]).toEqual([[], []]);
  const again = await start(SHORT, own);
  await expectWhole(await own.finish(again.id), 1, own);
});

test("leaves nothing behind", async () => {
  expect([rig.ffmpegs(), await rig.left()]).toEqual([[], []]);
});
