import assert from "node:assert/strict";
import type { Cases } from "./cases.ts";
import { encodeInPool, openPool } from "./pool.page.ts";

/** A pool where the product runs it: in a worker of the page that starts the encoder workers. */
export const CASES: Cases = {
  async "a pool in the media worker"() {
    const pool = openPool({ workers: 1 });
    const clip = "/files/still.png";
    const { files } = await encodeInPool({ clip, kind: "image", options: { format: "jpeg" } });
    assert.equal(files.length, 1);
    pool.close();
  },
};
