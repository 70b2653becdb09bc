import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NATIVE_PROTOCOL, type NativeJob } from "../../src/encoders/native/native-wire.ts";
import { frameHead } from "../../src/encoders/wire-frame.ts";
import { nativeWork } from "../../src/media/native-costs.ts";
import type { Source } from "../../src/media/source.ts";
import type { Batches } from "../../worker/container/batches.ts";
import { createJobs, createMemory, type Jobs } from "../../worker/container/jobs.ts";
import { createPictures } from "../../worker/container/pictures.ts";
import { createPlan } from "../plan/strict-plan.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a sender that stalls does not keep the pictures of others waiting", async () => {
  const unused = () => {
    throw new Error("No picture is complete.");
  };
  const pictures = createPictures({} as Jobs, { serve: unused, close: unused }, createMemory(1000));
  const { signal } = new AbortController();
  const stalled = () => new ReadableStream<Uint8Array>();
  const bad = () => new Blob([new Uint8Array(4)]).stream();
  const late = { kind: "timeout" };
  const first = expect(pictures.encode(stalled(), 0, signal)).rejects.toMatchObject(late);
  const second = expect(pictures.encode(stalled(), 0, signal)).rejects.toMatchObject(late);
  await vi.advanceTimersByTimeAsync(20_000);
  await Promise.all([first, second]);
  const third = expect(pictures.encode(bad(), 0, signal)).rejects.toMatchObject({ kind: "request_invalid" });
  await vi.advanceTimersByTimeAsync(1);
  await third;
});

test("a job that waits for the memory of a picture begins when its sender breaks off", async () => {
  const source: Source = { object: "source", url: "https://example.com/a.png", kind: "image", format: "png" };
  const probed = { ...source, width: 8, height: 8, codecs: { video: "png", audio: null } };
  const plan = createPlan(probed, "image", { format: "jpeg" });
  const chunk = { index: 0, track: "all", start: 0, end: null } as const;
  const memory = createMemory(nativeWork(plan, probed).memory + 2000);
  const jobs = createJobs({
    slots: 1,
    lease_seconds: 60,
    memory,
    run: () => new Promise(() => {}),
    batches: { awaits: () => false, enter: () => null } as unknown as Batches,
  });
  const server = { serve: () => expect.fail("The picture is not complete."), close() {} };
  const pictures = createPictures(jobs, server, memory);
  const broken = Promise.withResolvers<never>();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) =>
      controller.enqueue(frameHead({ protocol: NATIVE_PROTOCOL, plan, chunk, source: probed, size: 1000 })),
    pull: () => broken.promise,
  });
  const picture = expect(pictures.encode(body, 0, new AbortController().signal)).rejects.toThrow(
    "broken off",
  );
  await vi.advanceTimersByTimeAsync(1);
  const file = { input: { url: probed.url, size: 1, etag: "" }, folder: "https://example.com/", name: "a" };
  const job: NativeJob = { protocol: NATIVE_PROTOCOL, id: "one", plan, chunk, source: probed, ...file };
  expect(await jobs.start(job)).toBeNull();
  const started = jobs.start(job, 60_000);
  broken.reject(new Error("broken off"));
  await picture;
  expect(await started).toMatchObject({ fresh: true });
});
