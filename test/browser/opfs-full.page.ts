import assert from "node:assert/strict";
import { createOpfsStorage } from "../../src/storage/opfs.ts";
import type { Cases } from "./cases.ts";

const MB = 1024 * 1024;

/** OPFS with a quota of 4 MB. */
export const CASES: Cases = {
  "rejects an array that does not fit": async () => {
    const storage = await createOpfsStorage("full-before");
    // The browser reports a full disk in more than one way.
    for (let n = 0; n < 20; n++) {
      await assert.rejects(storage.write("a", new Uint8Array(8 * MB), "video/mp4"), { kind: "storage_full" });
    }
    assert.equal(await storage.head("a"), null);
  },
  "keeps nothing of a stream that does not fit, and writes again when there is room": async () => {
    const storage = await createOpfsStorage("full-within");
    await storage.write("a", new Uint8Array(MB).fill(7), "video/mp4");
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(MB / 4));
      },
      cancel() {
        cancelled = true;
      },
    });
    await assert.rejects(storage.write("a", endless, "video/mp4"), {
      kind: "storage_full",
      message: /^The browser has no room left for this page; delete finished tasks/,
    });
    assert.ok(cancelled);
    assert.ok(pulled < 100, `${pulled} chunks were pulled`);
    assert.equal((await storage.head("a"))?.size, MB);
    const origin = await navigator.storage.getDirectory();
    const folder = await (await origin.getDirectoryHandle("full-within")).getDirectoryHandle("unfinished");
    for await (const left of folder.keys()) assert.equal(left, "nothing");
    await storage.write("a", new Uint8Array(2 * MB), "video/mp4");
    assert.equal((await storage.head("a"))?.size, 2 * MB);
    await storage.clear("a");
  },
};
