import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readKeyframes } from "../../src/probe/entries.ts";
import { type Rig, startRig, until } from "../container/rig.ts";
import { client, encoder, job, QUICK, running } from "../encoders/native-client.ts";
import { clip } from "../fixtures/clips.ts";
import { bytesReader } from "../probe/probe-file.ts";
import { watchPace } from "./pace.ts";

let native: Rig;
beforeAll(async () => {
  native = await startRig({ STALL_SECONDS: "2" });
});
afterAll(() => native?.close());

/** Starts an encode of many seconds; returns its job and the ffmpeg that works on it. */
async function startLong() {
  const input = await clip("mp4", { size: "1280x720", seconds: 8 });
  const job = await native.job(input, "video", { codec: "h265", quality: "very_high" });
  expect((await native.call("POST", "/jobs", job)).status).toBe(202);
  return { job, pid: await until(async () => (await native.ffmpegs())[0]) };
}

test("deleting a job leaves no ffmpeg and no files within two seconds", async () => {
  const steady = watchPace();
  const { job } = await startLong();
  const started = performance.now();
  expect((await native.call("DELETE", `/jobs/${job.id}`)).status).toBe(204);
  const took = performance.now() - started;
  expect([await native.ffmpegs(), await native.left()]).toEqual([[], []]);
  expect(steady(took)).toBeLessThan(2000);
});

// Two seconds of stall time, and five until an ffmpeg that does not end is killed.
test("ends a silent ffmpeg within ten seconds", async () => {
  const steady = watchPace();
  const { job, pid } = await startLong();
  process.kill(pid, "SIGSTOP");
  const started = performance.now();
  expect(await native.finish(job.id)).toMatchObject({ state: "failed", error: { kind: "stalled" } });
  expect(steady(performance.now() - started)).toBeLessThan(10_000);
});

test.for([
  { name: "during a status request", script: { ask: ["silent"] }, method: "GET" },
  { name: "while submitting the job", script: { start: ["silent"] }, method: "POST" },
  { name: "between two status requests", script: { ask: [running(0.01)] }, method: "GET" },
] as const)("an abort $name rejects within a second", async ({ script, method }) => {
  const steady = watchPace();
  const one = await encoder("one", script);
  const stop = new AbortController();
  const timeouts = { ...QUICK, startMs: 60_000, pollMs: 60_000 };
  const encoding = client([one], { timeouts }).encode(job({ signal: stop.signal }));
  await one.arrival(method);
  expect(steady(await stopping(encoding, stop))).toBeLessThan(1000);
});

// It keeps asking the encoder to end the job for 1.2 s.
test("an aborted client stops waiting for an encoder that ignores it", async () => {
  const steady = watchPace();
  const one = await encoder("one", { ask: ["silent"] });
  const stop = new AbortController();
  const deaf = {
    name: "deaf",
    fetch: (path: string, init: RequestInit = {}) =>
      init.method === "DELETE" ? new Promise<Response>(() => {}) : one.fetch(path, init),
  };
  const encoding = client([deaf]).encode(job({ signal: stop.signal }));
  await one.arrival("GET");
  expect(steady(await stopping(encoding, stop))).toBeLessThan(1800);
});

async function stopping(encoding: Promise<unknown>, stop: AbortController): Promise<number> {
  const started = performance.now();
  stop.abort(new Error("enough"));
  await expect(encoding).rejects.toThrow("enough");
  return performance.now() - started;
}

test("reads a damaged index within half a second", async () => {
  const whole = new Uint8Array(await readFile(await clip("mp4", { seconds: 3 })));
  const source = { object: "source", url: "file:clip", kind: "video", format: "mp4" } as const;
  let [seed, slowest] = [7, 0];
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  const steady = watchPace();
  for (let trial = 0; trial < 200; trial++) {
    const broken = whole.slice();
    for (let flips = 0; flips < 20; flips++) broken[next(Math.min(broken.length, 4096))] = next(256);
    const started = performance.now();
    await readKeyframes(bytesReader(broken), source, AbortSignal.timeout(120_000));
    slowest = Math.max(slowest, performance.now() - started);
  }
  expect(steady(slowest)).toBeLessThan(500);
});
