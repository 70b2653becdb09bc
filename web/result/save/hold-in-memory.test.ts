import { expect, test } from "vitest";
import { holdInMemory } from "./hold-in-memory.ts";

const { signal } = new AbortController();

/** Three pieces of four bytes, and how many were read. */
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

test("a stream as large as may be is held whole", async () => {
  for (const total of [12, null]) {
    const { stream } = threePieces();
    const blob = await holdInMemory(stream, { total, most: 12, signal });
    expect([...(await blob.bytes())]).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
  }
});

test("a larger one is refused before it is read, or as soon as it shows, and let go of", async () => {
  const fault = { kind: "storage_full", message: expect.stringMatching(/at most 11 B .* Choose fewer/) };
  for (const [total, pieces] of [
    [12, 0],
    [null, 3],
  ] as const) {
    const { stream, taken } = threePieces();
    await expect(holdInMemory(stream, { total, most: 11, signal })).rejects.toMatchObject(fault);
    expect(taken).toEqual({ pieces, is_cancelled: true });
  }
});

test("one that is stopped is let go of", async () => {
  const { stream, taken } = threePieces();
  const stopped = AbortSignal.abort();
  await expect(holdInMemory(stream, { total: null, most: 12, signal: stopped })).rejects.toBe(stopped.reason);
  expect(taken.is_cancelled).toBe(true);
});
