import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { type Malformed, makeMalformed } from "../fixtures/malformed.ts";

const digest = ({ bytes }: Malformed) => createHash("sha256").update(bytes).digest("hex");

test("there are 100 different malformed files of many formats", async () => {
  const files = await makeMalformed();
  expect(new Set(files.map(({ name }) => name)).size).toBe(100);
  expect(new Set(files.map(digest)).size).toBe(100);
  expect(new Set(files.map(({ kind }) => kind))).toEqual(new Set(["video", "audio", "image"]));
  expect(new Set(files.map((file) => file.clip)).size).toBeGreaterThan(20);
});

test("the same clips always make the same files", async () => {
  const [first, second] = await Promise.all([makeMalformed(), makeMalformed()]);
  expect(first.map(digest)).toEqual(second.map(digest));
});

test("every file differs from its intact clip", async () => {
  const whole = await Promise.all(
    (await makeMalformed()).map(async (file) =>
      (await readFile(await clip(file.clip, { seconds: 1 }))).equals(file.bytes) ? file.name : null,
    ),
  );
  expect(whole.filter((name) => name !== null)).toEqual([]);
});
