import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findBuilt } from "../../../core/cache.ts";
import { FRAME_MIME, frameHead, readFrames } from "../../../src/encoders/wire-frame.ts";
import { createPlan } from "../../../src/media/index.ts";
import { clip } from "../../fixtures/clips.ts";
import { type EncoderRig, openReader, startEncoder } from "./rig.ts";

let rig: EncoderRig;
beforeAll(async () => {
  rig = await startEncoder();
});
afterAll(() => rig.close());

const post = (body: BodyInit, signal?: AbortSignal) => {
  const init = { method: "POST", headers: { "Content-Type": FRAME_MIME }, body, duplex: "half" };
  return rig.send("/", { ...init, ...(signal ? { signal } : {}) });
};
const text = Buffer.from("no media");
const small = Buffer.concat([
  frameHead({ job: { kind: "probe", size: text.length }, ranges: [{ start: 0, end: text.length }] }),
  text,
]);

async function longJob() {
  const signal = AbortSignal.timeout(120_000);
  const input = await clip("mp4", { size: "640x360", seconds: 2 });
  const { source } = await rig.probe(input);
  const plan = createPlan(source, "video", { height: 240 });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("There is no chunk.");
  return () => rig.light.encode({ plan, chunk, source, input: openReader(input), signal });
}

async function states(response: Response, onState: (state: string) => unknown = () => {}): Promise<string[]> {
  if (!response.body) throw new Error("There is no body.");
  const frames = readFrames(response.body);
  const seen: string[] = [];
  for (;;) {
    const message = (await frames.json()) as { state: string; kind?: string } | null;
    if (!message) return seen;
    const state = message.kind ?? message.state;
    if (state === seen.at(-1)) continue;
    seen.push(state);
    onState(state);
  }
}

/** Sends a probe that occupies its turn until its bytes are released. */
async function blockedProbe(signal?: AbortSignal) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  void writer.write(small.subarray(0, -text.length)).catch(() => {});
  const running = Promise.withResolvers<void>();
  const seen = post(readable, signal).then((response) =>
    states(response, (state) => state === "running" && running.resolve()),
  );
  seen.catch(() => {});
  await running.promise;
  return {
    states: seen,
    release: () => void writer.write(text).then(() => writer.close()),
  };
}

test("runs one job at a time: the next one starts when the first has ended", async () => {
  const order: string[] = [];
  const first = await blockedProbe();
  const waiting = post(small).then((response) => states(response, (state) => order.push(`second ${state}`)));
  await expect.poll(() => order).toContain("second waiting");
  // Longer than the line takes to notice a free place.
  await sleep(500);
  expect(order).toEqual(["second waiting"]);
  order.push("first released");
  first.release();
  expect((await first.states).at(-1)).toBe("input_unsupported");
  await waiting;
  expect(order).toEqual(["second waiting", "first released", "second running", "second input_unsupported"]);
});

test("jobs that come at once all finish with the same output", async () => {
  const run = await longJob();
  const files = await Promise.all(Array.from({ length: 4 }, run));
  expect(files[0]?.[0]?.bytes.length).toBeGreaterThan(1000);
  for (const [file] of files) expect(file?.bytes).toEqual(files[0]?.[0]?.bytes);
});

test("rejects jobs beyond the queue with Retry-After, and accepts them later", async () => {
  const run = await longJob();
  const long = run();
  const ask = async () => {
    const response = await post(small);
    const { status, headers } = response;
    return { status, retry: headers.get("Retry-After"), last: (await states(response)).at(-1) };
  };
  const answers = await Promise.all(Array.from({ length: 80 }, ask));
  const accepted = { status: 200, retry: null, last: "input_unsupported" };
  const busy = { status: 503, retry: "1", last: "service_unavailable" };
  expect(answers).toContainEqual(busy);
  for (const answer of answers) expect(answer).toEqual(answer.status === 503 ? busy : accepted);
  await long;

  const second = run();
  const reader = { size: text.length, read: async () => text };
  const probes = Array.from({ length: 80 }, () => rig.light.probe(reader, AbortSignal.timeout(120_000)));
  const ends = await Promise.allSettled(probes);
  expect(new Set(ends.map((end) => end.status === "rejected" && end.reason.kind))).toEqual(
    new Set(["input_unsupported"]),
  );
  await second;
});

test("a waiting caller that leaves gives up its place", async () => {
  const first = await blockedProbe();
  const seen = { left: 0, staying: 0 };
  const leaving = new AbortController();
  const left = post(small, leaving.signal).then((response) => states(response, () => seen.left++));
  await expect.poll(() => seen.left).toBe(1);
  const staying = post(small).then((response) => states(response, () => seen.staying++));
  await expect.poll(() => seen.staying).toBe(1);
  leaving.abort();
  await expect(left).rejects.toThrow();
  first.release();
  expect(await staying).toEqual(["waiting", "running", "input_unsupported"]);
});

test("a caller that leaves during its turn does not block the others", async () => {
  const leaving = new AbortController();
  const blocked = await blockedProbe(leaving.signal);
  let waits = 0;
  const waiting = post(small).then((response) => states(response, () => waits++));
  await expect.poll(() => waits).toBe(1);
  leaving.abort();
  await expect(blocked.states).rejects.toThrow();
  expect(await waiting).toEqual(["waiting", "running", "input_unsupported"]);
});

const FAULTS: { name: string; body: BodyInit; type: string }[] = [
  { name: "a body that is not a frame", body: "hello", type: FRAME_MIME },
  { name: "another type", body: small, type: "application/json" },
  { name: "a frame without a job", body: frameHead({ hello: 1 }), type: FRAME_MIME },
  {
    name: "an unknown job",
    body: frameHead({ job: { kind: "dance", size: 1 }, ranges: [] }),
    type: FRAME_MIME,
  },
  {
    name: "ranges beyond the file",
    body: frameHead({ job: { kind: "probe", size: 1 }, ranges: [{ start: 0, end: 2 }] }),
    type: FRAME_MIME,
  },
  { name: "truncated bytes", body: small.subarray(0, small.length - 2), type: FRAME_MIME },
];

test.for(FAULTS)("rejects a request with $name", async ({ body, type }) => {
  const response = await rig.send("/", { method: "POST", headers: { "Content-Type": type }, body });
  expect((await states(response)).at(-1)).toBe("request_invalid");
});

test("rejects a request with more input than fits before reading it", async () => {
  const size = 100_000_000;
  const response = await post(frameHead({ job: { kind: "probe", size }, ranges: [{ start: 0, end: size }] }));
  expect(await states(response)).toEqual(["payload_too_large"]);
});

test("serves GET /health", async () => {
  const response = await rig.send("/health", {});
  expect(await response.json()).toEqual({ status: "ok", fast: findBuilt("core") !== null });
  expect((await rig.send("/other", {})).status).toBe(404);
});
