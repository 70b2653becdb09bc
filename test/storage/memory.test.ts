import { describe, expect, test } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { STORAGE_CONTRACT } from "./contract.ts";

test.for(STORAGE_CONTRACT)("memory storage $name", ({ check }) => check(createMemoryStorage()));

describe("memory storage of limited size", () => {
  const MIME = "video/mp4";
  const full = { kind: "input_too_large", message: "No more than 100 bytes of files can be held in memory." };

  test("stops a stream that exceeds it", async () => {
    const storage = createMemoryStorage({ maxBytes: 100 });
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(40));
      },
    });
    await expect(storage.write("in/a", endless, MIME)).rejects.toMatchObject(full);
    expect(pulled).toBeLessThan(10);
    expect(await storage.head("in/a")).toBeNull();
    expect((await storage.write("in/a", new Uint8Array(100), MIME)).size).toBe(100);
  });

  test("counts all its files", async () => {
    const storage = createMemoryStorage({ maxBytes: 100 });
    await storage.write("in/a", new Uint8Array(60), MIME);
    await expect(storage.write("out/b", new Uint8Array(60), MIME)).rejects.toMatchObject(full);
    await storage.write("out/b", new Blob([new Uint8Array(40)]).stream(), MIME);
    await storage.clear("out/");
    await storage.write("out/c", new Uint8Array(40), MIME);
  });

  test("frees the file that a write replaces", async () => {
    const storage = createMemoryStorage({ maxBytes: 100 });
    for (const bytes of [40, 50, 30, 50]) await storage.write("in/a", new Uint8Array(bytes), MIME);
    expect((await storage.write("in/b", new Uint8Array(50), MIME)).size).toBe(50);
  });
});
