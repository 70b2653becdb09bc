import { afterAll, beforeAll, expect, test } from "vitest";
import { FRAME_MIME, frameHead, readFrames } from "../../../src/encoders/light/frame.ts";
import { createPlan } from "../../../src/plan/index.ts";
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

async function longJob(onWait = () => {}, signal = AbortSignal.timeout(120_000)) {
  const input = await clip("mp4", { size: "640x360", seconds: 2 });
  const { source } = await rig.probe(input);
  const plan = createPlan(source, "video", { height: 240 });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("There is no chunk.");
  return () => rig.light.encode({ plan, chunk, source, input: openReader(input), signal, onWait });
}

async function states(response: Response): Promise<string[]> {
  if (!response.body) throw new Error("There is no body.");
  const frames = readFrames(response.body);
  const seen: string[] = [];
  for (;;) {
    const message = (await frames.json()) as { state: string; kind?: string } | null;
    if (!message) return seen;
    if (message.state !== seen.at(-1)) seen.push(message.kind ?? message.state);
  }
}

test("runs one job at a time, reports waiting to the others and finishes all", async () => {
  let waits = 0;
  const run = await longJob(() => waits++);
  const files = await Promise.all(Array.from({ length: 4 }, run));
  for (const [file] of files) expect(file?.bytes).toEqual(files[0]?.[0]?.bytes);
  // At least once for each of the three, at its start.
  expect(waits).toBeGreaterThanOrEqual(3);
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

  const again = run();
  const reader = { size: text.length, read: async () => text };
  const probes = Array.from({ length: 80 }, () => rig.light.probe(reader, AbortSignal.timeout(120_000)));
  const ends = await Promise.allSettled(probes);
  expect(new Set(ends.map((end) => end.status === "rejected" && end.reason.kind))).toEqual(
    new Set(["input_unsupported"]),
  );
  await again;
});

test("a waiting caller that leaves gives up its place", async () => {
  const run = await longJob();
  const long = run();
  const leaving = new AbortController();
  const left = post(small, leaving.signal).then(states);
  const staying = post(small).then(states);
  leaving.abort();
  await expect(left).rejects.toThrow();
  await long;
  expect((await staying).at(-1)).toBe("input_unsupported");
});

test("a caller that leaves during its turn does not block the others", async () => {
  const leaving = new AbortController();
  // The frame announces bytes that never follow.
  const head = frameHead({ job: { kind: "probe", size: 10 }, ranges: [{ start: 0, end: 10 }] });
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(head) });
  const response = await post(body, leaving.signal);
  const frames = readFrames(response.body ?? new ReadableStream());
  expect(await frames.json()).toEqual({ state: "running" });
  const waiting = post(small).then(states);
  leaving.abort();
  expect((await waiting).at(-1)).toBe("input_unsupported");
});

const FAULTS: [string, BodyInit, string][] = [
  ["a body that is not a frame", "hello", FRAME_MIME],
  ["another type", small, "application/json"],
  ["a frame without a job", frameHead({ hello: 1 }), FRAME_MIME],
  ["an unknown job", frameHead({ job: { kind: "dance", size: 1 }, ranges: [] }), FRAME_MIME],
  [
    "ranges beyond the file",
    frameHead({ job: { kind: "probe", size: 1 }, ranges: [{ start: 0, end: 2 }] }),
    FRAME_MIME,
  ],
  ["truncated bytes", small.subarray(0, small.length - 2), FRAME_MIME],
];

test.for(FAULTS)("rejects a request with %s", async ([, body, type]) => {
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
  expect(await response.json()).toEqual({ status: "ok" });
  expect((await rig.send("/other", {})).status).toBe(404);
});
