import { createHash } from "node:crypto";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Lab, openLab } from "../browser/lab.ts";

let lab: Lab;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-blobs-"));
  lab = await openLab({ own: {} });
  await lab.page.setContent('<input type="file">');
});
afterEach(() => expect(lab.complaints.splice(0)).toEqual([]));
afterAll(async () => {
  await lab?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Selects a file on disk in the page's input. */
async function choose(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  await lab.page.setInputFiles("input", path);
  return path;
}

/** The text that the page reads from the chosen file, or the error. */
function read(start: number, end: number): Promise<unknown> {
  return lab.page.evaluate(
    async (range) => {
      const { createBlobReader } = await import("../../src/storage/readers.ts");
      const [file] = document.querySelector("input")?.files ?? [];
      const reader = createBlobReader(file ?? new Blob());
      return reader.read(range).then(
        (bytes) => [reader.size, new TextDecoder().decode(bytes)],
        ({ name, kind, message, retryable }) => ({ name, kind, message, retryable }),
      );
    },
    { start, end },
  );
}

const GONE = (name: string) => ({
  name: "MediaError",
  kind: "input_unreachable",
  message: `The file ${name} can no longer be read: it was changed, moved or deleted after it was chosen. Choose it again.`,
  retryable: false,
});

test.for([
  { start: 0, end: 4, expected: "0123" },
  { start: 8, end: 99, expected: "89" },
  { start: 10, end: 12, expected: "" },
  { start: 50, end: 60, expected: "" },
  { start: 4, end: 4, expected: "" },
] as const)("reads a chosen file from $start to $end", async ({ start, end, expected }) => {
  await choose("digits.mp4", "0123456789");
  expect(await read(start, end)).toEqual([10, expected]);
});

test("rejects reading a file that was changed", async () => {
  const path = await choose("changed.mp4", "0123456789");
  expect(await read(0, 4)).toEqual([10, "0123"]);
  await writeFile(path, "9876543210!");
  await utimes(path, new Date(0), new Date(0));
  expect(await read(0, 4)).toEqual(GONE("changed.mp4"));
});

test.for(["before", "after"])("rejects reading a file deleted %s its first read", async (when) => {
  const path = await choose("deleted.mp4", "0123456789");
  if (when === "after") expect(await read(0, 4)).toEqual([10, "0123"]);
  await rm(path);
  expect(await read(0, 4)).toEqual(GONE("deleted.mp4"));
});

test("rejects reading a file deleted between two reads of one reader", async () => {
  const path = await choose("between.mp4", "0123456789");
  await lab.page.evaluate(async () => {
    const { createBlobReader } = await import("../../src/storage/readers.ts");
    const [file] = document.querySelector("input")?.files ?? [];
    const reader = createBlobReader(file ?? new Blob());
    await reader.read({ start: 0, end: 4 });
    Object.assign(window, { reader });
  });
  await rm(path);
  const error = await lab.page.evaluate(async () => {
    const reader = Reflect.get(window, "reader");
    return reader.read({ start: 4, end: 8 }).catch(({ kind }: { kind: string }) => kind);
  });
  expect(error).toBe("input_unreachable");
});

test("reads an empty file", async () => {
  await choose("empty.mp4", "");
  expect(await read(0, 4)).toEqual([0, ""]);
});

test("an aborted read rejects with the reason", async () => {
  const reason = await lab.page.evaluate(async () => {
    const { createBlobReader } = await import("../../src/storage/readers.ts");
    const reader = createBlobReader(new Blob(["0123456789"]));
    const signal = AbortSignal.abort("enough");
    return reader.read({ start: 0, end: 4 }, signal).catch((thrown) => thrown);
  });
  expect(reason).toBe("enough");
});

test.for([0, 1000, 65_536, 100_000, 1_000_000])(
  "fingerprints a file of %s bytes from its ends and its middle",
  async (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, n) => (n * 31 + (n >> 8)) % 251);
    const path = await choose("fingerprint.mp4", bytes);
    await utimes(path, 1_700_000_000, 1_700_000_000);
    await lab.page.setInputFiles("input", path);
    const fingerprints = await lab.page.evaluate(async () => {
      const { fingerprintOf } = await import("../../src/storage/readers.ts");
      const [file] = document.querySelector("input")?.files ?? [];
      return [await fingerprintOf(file ?? new Blob()), (await fingerprintOf(new Blob(["a"]))).last_modified];
    });
    const middle = Math.max(0, Math.floor((size - 65_536) / 2));
    const sha256 = createHash("sha256")
      .update(bytes.subarray(0, 65_536))
      .update(bytes.subarray(middle, middle + 65_536))
      .update(bytes.subarray(Math.max(0, size - 65_536)))
      .digest("hex");
    expect(fingerprints).toEqual([{ size, last_modified: 1_700_000_000_000, sha256 }, null]);
  },
);

test("rejects fingerprinting a deleted file", async () => {
  const path = await choose("lost.mp4", "0123456789");
  await rm(path);
  const error = await lab.page.evaluate(async () => {
    const { fingerprintOf } = await import("../../src/storage/readers.ts");
    const [file] = document.querySelector("input")?.files ?? [];
    return fingerprintOf(file ?? new Blob()).catch(({ name, kind, message, retryable }) => ({
      ...{ name, kind, message, retryable },
    }));
  });
  expect(error).toEqual(GONE("lost.mp4"));
});
