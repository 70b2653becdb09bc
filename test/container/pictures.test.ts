import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Jobs } from "../../worker/container/jobs.ts";
import { createMemory } from "../../worker/container/memory.ts";
import { createPictures } from "../../worker/container/pictures/pictures.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a sender that stalls does not keep the pictures of others waiting", async () => {
  const unused = () => {
    throw new Error("No picture is complete.");
  };
  const pictures = createPictures({} as Jobs, { hold: unused, close: unused }, createMemory(1000));
  const { signal } = new AbortController();
  const stalled = () => new ReadableStream<Uint8Array>();
  const bad = () => new Blob([new Uint8Array(4)]).stream();
  const late = { kind: "timeout" };
  const first = expect(pictures.make(stalled(), 0, signal)).rejects.toMatchObject(late);
  const second = expect(pictures.make(stalled(), 0, signal)).rejects.toMatchObject(late);
  await vi.advanceTimersByTimeAsync(20_000);
  await Promise.all([first, second]);
  const third = expect(pictures.make(bad(), 0, signal)).rejects.toMatchObject({ kind: "request_invalid" });
  await vi.advanceTimersByTimeAsync(1);
  await third;
});
