import { expect, test } from "vitest";
import { openStored, runIngest } from "../../src/runs/steps/inputs.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageReader } from "../../src/storage/readers.ts";

test("reads a stored object whole and by ranges, and rejects a missing one", async () => {
  const storage = createMemoryStorage();
  const bytes = new Uint8Array(9_000_000).map((_, index) => index % 251);
  await storage.write("out/a", bytes, "video/mp4");
  const open = () => openStored(storage, "out/a", "opfs:/a", (key) => storageReader(storage, key));
  const reported: [number, number | null][] = [];
  const info = await runIngest({
    open: async () => (await open()).file,
    ...{ storage, key: "work/a" },
    progress: (received, size) => void reported.push([received, size]),
  });
  expect([info.size, info.mime]).toEqual([bytes.length, "video/mp4"]);
  expect(reported.at(-1)).toEqual([bytes.length, bytes.length]);
  const input = await open();
  expect(await input.reader?.read({ start: 250, end: 253 })).toEqual(new Uint8Array([250, 0, 1]));
  await input.file.close();
  await expect(
    openStored(storage, "out/b", "opfs:/b", async () => input.reader as never),
  ).rejects.toMatchObject({
    kind: "input_not_found",
  });
});
