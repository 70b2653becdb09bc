import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { NATIVE_PROTOCOL } from "../../src/encoders/native/native-wire.ts";
import { frameHead } from "../../src/encoders/wire-frame.ts";
import { nativeWork } from "../../src/media/native-costs.ts";
import { createMemory } from "../../worker/container/jobs.ts";
import { clip } from "../fixtures/clips.ts";
import { type Rig, startRig } from "./rig.ts";

const MIB = 2 ** 20;
const film = () => clip("mp4", { size: "1280x720", seconds: 8 });

test("admits jobs while their estimates fit, and any job alone", () => {
  const memory = createMemory(100);
  const large = memory.reserve(500);
  expect(large).not.toBeNull();
  expect(memory.reserve(1)).toBeNull();
  large?.release();
  const [one, two] = [memory.reserve(60), memory.reserve(40)];
  expect([one === null, two === null, memory.reserve(1)]).toEqual([false, false, null]);
  two?.release();
  expect(memory.reserve(40)).not.toBeNull();
});

test("a job may take more than its estimate, as long as all fit", () => {
  const memory = createMemory(100);
  const [one, two] = [memory.reserve(30), memory.reserve(30)];
  expect([one?.fits(70), one?.fits(71), two?.fits(30), two?.fits(31)]).toEqual([true, false, true, false]);
  one?.release();
  expect([two?.fits(100), two?.fits(101)]).toEqual([true, false]);
});

async function withMemory(bytes: number, work: (rig: Rig) => Promise<void>): Promise<void> {
  const rig = await startRig({ PLACES: "3", MAX_MEMORY_BYTES: String(bytes) });
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
}

test("two jobs that together exceed the machine do not run at once", () =>
  withMemory(400 * MIB, async (rig) => {
    const jobs = await Promise.all([1, 2].map(async () => rig.job(await film(), "video", { codec: "h265" })));
    const needs = jobs.map(({ plan, source }) => nativeWork(plan, source).memory);
    for (const need of needs) expect([need > 200 * MIB, need < 400 * MIB]).toEqual([true, true]);
    const [first, second] = jobs;
    expect((await rig.call("POST", "/jobs", first)).status).toBe(202);
    const refused = await rig.call("POST", "/jobs", second);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    // Small work fits beside it.
    const still = await rig.job(await clip("png"), "image", { width: 20 });
    expect(await rig.run(still)).toMatchObject({ state: "done" });
    await rig.call("DELETE", `/jobs/${first?.id}`);
    expect((await rig.call("POST", "/jobs", second)).status).toBe(202);
    await rig.call("DELETE", `/jobs/${second?.id}`);
  }));

test("a picture that does not fit beside the jobs is not read into memory", () =>
  withMemory(400 * MIB, async (rig) => {
    const video = await rig.job(await film(), "video", { codec: "h265" });
    const png = await clip("png");
    const { plan, chunk, source } = await rig.job(png, "image", { width: 20 });
    const send = (size: number, bytes: Uint8Array) =>
      fetch(`${rig.url}/pictures`, {
        method: "POST",
        body: new Blob([
          frameHead({ protocol: NATIVE_PROTOCOL, plan, chunk, source, size }),
          bytes as BlobPart,
        ]),
      });
    expect((await rig.call("POST", "/jobs", video)).status).toBe(202);
    // The body is only announced; if the server waited for it, it would refuse it as cut off.
    const refused = await send(250 * MIB, new Uint8Array(10));
    expect([refused.status, (await refused.json()).kind]).toEqual([503, "service_unavailable"]);
    const file = await readFile(png);
    expect((await send(file.length, file)).status).toBe(200);
    await rig.call("DELETE", `/jobs/${video.id}`);
    const short = await send(250 * MIB, new Uint8Array(10));
    expect([short.status, (await short.json()).kind]).toEqual([400, "request_invalid"]);
  }));

test("a picture is made where its job and its bytes are all there is", async () => {
  const png = await clip("png");
  const file = await readFile(png);
  const rig = await startRig();
  const { plan, chunk, source } = await rig.job(png, "image", { width: 20 });
  await rig.close();
  await withMemory(Math.ceil(nativeWork(plan, source).memory) + 10, async ({ url }) => {
    const body = new Blob([
      frameHead({ protocol: NATIVE_PROTOCOL, plan, chunk, source, size: file.length }),
      file,
    ]);
    expect((await fetch(`${url}/pictures`, { method: "POST", body })).status).toBe(200);
  });
});

test("a job that takes far more than its estimate is ended, to be tried elsewhere", () =>
  withMemory(360 * MIB, async (rig) => {
    // It waits for its input, so that even on a slow machine it takes no more than its estimate until the other job has grown.
    const first = await rig.job(await film(), "video", { codec: "h265" }, (plain) => ({
      ...plain,
      stall_after: 0,
    }));
    const grown = await rig.job(await film(), "video", { codec: "h265" });
    // The source claims small pictures, on which the estimate depends.
    const { geometry } = grown.plan.video as { geometry: { width: number; height: number } };
    Object.assign(geometry, { width: 64, height: 64 });
    Object.assign(grown.source, { width: 64, height: 64 });
    expect((await rig.call("POST", "/jobs", first)).status).toBe(202);
    const state = await rig.run(grown);
    await rig.call("DELETE", `/jobs/${first.id}`);
    expect(state).toMatchObject({ state: "failed", error: { kind: "out_of_memory", retryable: true } });
  }));
