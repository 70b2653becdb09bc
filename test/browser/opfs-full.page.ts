import assert from "node:assert/strict";
import { createOpfsStorage } from "../../src/storage/opfs/opfs.ts";
import type { Cases } from "./cases.ts";

const MB = 1024 * 1024;

/** The browser's own files where the page may keep 4 MB. */
export const CASES: Cases = {
  "says that there is no room for an array": async () => {
    const storage = await createOpfsStorage("full-before");
    // The browser has more than one way to say so.
    for (let n = 0; n < 20; n++) {
      await assert.rejects(storage.write("a", new Uint8Array(8 * MB), "video/mp4"), { kind: "storage_full" });
    }
    assert.equal(await storage.head("a"), null);
  },
  "keeps nothing of a stream that fills it up, and goes on when there is room": async () => {
    const storage = await createOpfsStorage("full-within");
    await storage.write("a", new Uint8Array(MB).fill(7), "video/mp4");
    let given = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        given++;
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
    assert.ok(given < 100, `${given} pieces were taken`);
    assert.equal((await storage.head("a"))?.size, MB);
    const origin = await navigator.storage.getDirectory();
    const folder = await (await origin.getDirectoryHandle("full-within")).getDirectoryHandle("unfinished");
    for await (const left of folder.keys()) assert.equal(left, "nothing");
    await storage.write("a", new Uint8Array(2 * MB), "video/mp4");
    assert.equal((await storage.head("a"))?.size, 2 * MB);
    await storage.clear("");
  },
};
