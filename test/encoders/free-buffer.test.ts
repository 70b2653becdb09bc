import { expect, test } from "vitest";
import { freeBuffer } from "../../src/encoders/wasm/free-buffer.ts";

test("freeing memory detaches it at once, also twice", () => {
  for (let round = 0; round < 3; round++) {
    const bytes = new Uint8Array(1_000_000);
    const part = bytes.subarray(10, 20);
    freeBuffer(bytes);
    freeBuffer(bytes);
    expect([bytes.buffer.byteLength, bytes.length, part.length]).toEqual([0, 0, 0]);
  }
});
