import { expect, test } from "vitest";
import { holdInMemory } from "./download.ts";

const { signal } = new AbortController();

/** A stream of three chunks of four bytes, and how much of it was read. */
function threePieces() {
  const taken = { pieces: 0, is_cancelled: false };
  const source: UnderlyingDefaultSource<Uint8Array> = {
    pull(controller) {
      if (taken.pieces === 3) controller.close();
      else controller.enqueue(new Uint8Array(4).fill(++taken.pieces));
    },
    cancel() {
      taken.is_cancelled = true;
    },
  };
  return { taken, stream: new ReadableStream(source, { highWaterMark: 0 }) };
}

test("holds a stream of the maximum size", async () => {
  for (const total of [12, null]) {
    const { stream } = threePieces();
    const blob = await holdInMemory(stream, { total, max: 12, signal });
    expect([...(await blob.bytes())]).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
  }
});

test("rejects a larger stream before reading it or as soon as it exceeds the limit, and cancels it", async () => {
  const fault = { kind: "storage_full", message: expect.stringMatching(/at most 11 B .* Choose fewer/) };
  for (const [total, pieces] of [
    [12, 0],
    [null, 3],
  ] as const) {
    const { stream, taken } = threePieces();
    await expect(holdInMemory(stream, { total, max: 11, signal })).rejects.toMatchObject(fault);
    expect(taken).toEqual({ pieces, is_cancelled: true });
  }
});

test("cancels the stream when the signal aborts", async () => {
  const { stream, taken } = threePieces();
  const stopped = AbortSignal.abort();
  await expect(holdInMemory(stream, { total: null, max: 12, signal: stopped })).rejects.toBe(stopped.reason);
  expect(taken.is_cancelled).toBe(true);
});
