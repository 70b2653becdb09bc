import { afterAll, beforeAll, expect, test } from "vitest";
import { movingAvif } from "../../fixtures/heif-moving.ts";
import { HEIF_ROWS } from "../../fixtures/heif-rows.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { readFacts } from "../../judge/facts.ts";
import { judgeHeif, movingHeifError, rightOf } from "../../judge/heif.ts";
import { type Lab, startLab } from "../../reliability/lab.ts";

let lab: Lab;
let origin: Origin;
beforeAll(async () => {
  [lab, origin] = await Promise.all([startLab(), startOrigin()]);
});
afterAll(() => Promise.all([lab?.close(), origin?.close()]));

const serve = (file: string) => origin.serve(`/${file.split("/").at(-1)}`, { file });

test.for(HEIF_ROWS)("$name becomes what viewers show", async (row) => {
  const input = await serve(await row.make());
  const { task, path } = await lab.door.encode({ input, kind: "image", options: { format: "png" } });
  const [source, , output] = task.steps.map((step) => step.output);
  expect(source).toMatchObject({ format: row.format, has_alpha: row.clear === true });
  expect(output?.encoder).toBe("native");
  const { size, like } = await judgeHeif(row, path);
  expect(size).toEqual(rightOf(row));
  expect(like).toBeGreaterThan(row.min_ssim ?? 0.93);
});

test("an animated AVIF with transparency keeps all pictures, their times and what is clear", async () => {
  const input = await serve(await movingAvif());
  const encode = (kind: "image" | "animation" | "video", format: string) =>
    lab.door.encode({ input, kind, options: { format } });
  const [still, gif, video] = [
    await encode("image", "png"),
    await encode("animation", "gif"),
    await encode("video", "mp4"),
  ];
  expect(still.task.steps[0]?.output).toMatchObject({ animated: true, duration: 0.75, has_alpha: true });
  expect(await movingHeifError(still.path, "png")).toBeLessThan(6);
  expect(await movingHeifError(gif.path, "gif")).toBeLessThan(16);
  expect(await movingHeifError(video.path, "mp4")).toBeLessThan(16);
  for (const { path } of [gif, video]) expect((await readFacts(path)).picture?.times).toEqual([0, 0.25, 0.5]);
});
