import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { movingAvif, movingHeic } from "../fixtures/heif-moving.ts";
import { HEIF_ROWS } from "../fixtures/heif-rows.ts";
import { readFacts } from "../judge/facts.ts";
import { judgeHeif, movingHeifError, rightOf } from "../judge/heif.ts";
import { colorDistance, readPicture } from "../judge/picture.ts";
import { type ClientLab, openClientLab, openKit } from "./client-rig.ts";

let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  await openKit(rig.lab.page, { name: "heif" });
});
afterAll(() => rig?.close());

async function make(path: string, kind: string, options: object) {
  const url = await rig.serve(path);
  return rig.lab.page.evaluate(
    async ([at, work]) => {
      const { client, base64 } = kit;
      const input = await kit.file(at);
      const request = { input, ...work } as unknown as Parameters<typeof client.tasks.create>[0];
      const source = await client.probe(input);
      const done = await client.tasks.wait(await client.tasks.create(request));
      const { error } = done;
      return { source, error, bytes: error ? "" : await base64(await (await client.output(done)).blob()) };
    },
    [url, { kind, options }] as const,
  );
}

async function saved(base64: string): Promise<string> {
  const path = join(rig.folder, `seen-${count++}`);
  await writeFile(path, Buffer.from(base64, "base64"));
  return path;
}

let count = 0;

test.for(HEIF_ROWS)("$name becomes what viewers show", async (row) => {
  const { source, error, bytes } = await make(await row.make(), "image", { format: "png" });
  expect([error, source.format, source.has_alpha]).toEqual([null, row.format, row.clear === true]);
  expect(source.color?.bit_depth).toBe(row.bit_depth ?? 8);
  const path = await saved(bytes);
  const { size, like } = await judgeHeif(row, path);
  expect(size).toEqual(rightOf(row));
  expect(like).toBeGreaterThan(row.min_ssim ?? 0.93);
});

test("an animated AVIF with transparency keeps all pictures, their times and what is clear", async () => {
  const path = await movingAvif();
  for (const [kind, format] of [
    ["image", "png"],
    ["animation", "gif"],
    ["video", "mp4"],
  ] as const) {
    const { error, bytes } = await make(path, kind, { format });
    expect(error).toBe(null);
    const output = await saved(bytes);
    expect(await movingHeifError(output, format)).toBeLessThan(16);
    if (kind !== "image") expect((await readFacts(output)).picture?.times).toEqual([0, 0.25, 0.5]);
  }
});

test("only the primary picture of a HEIC sequence can be encoded", async () => {
  const path = await movingHeic();
  const { source, error, bytes } = await make(path, "image", { format: "jpeg" });
  expect([source.animated, source.duration, error]).toEqual([true, 0.75, null]);
  const { at } = await readPicture(await saved(bytes));
  expect(colorDistance(at(24, 32), [255, 0, 0, 255])).toBeLessThan(6);
  const moving = await make(path, "video", {});
  expect(moving.error).toMatchObject({ kind: "encoder_unavailable" });
  expect(moving.error?.message).toContain("does not read animated heic");
});
