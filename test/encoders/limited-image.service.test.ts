import { afterAll, beforeAll, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 120_000 };
const PHOTO = "-f lavfi -i mandelbrot=s=640x480:maxiter=400:start_scale=0.05 -frames:v 1 -pix_fmt rgb24";
const photo = () => makeClip("png", [...PHOTO.split(" "), "-bitexact"]);

const ROWS = [
  ["a JPEG of lower quality", "jpeg", 50_000, "light", [640, 640], 0.9],
  ["a smaller JPEG", "jpeg", 5_000, "light", [200, 500], 0.85],
  ["a smaller PNG", "png", 100_000, "light", [200, 500], 0.95],
  ["an AVIF", "avif", 20_000, "native", [640, 640], 0.9],
] as const;

test.concurrent.for(ROWS)(
  "%s stays within its bytes and uses them",
  LIMIT,
  async ([, format, max_bytes, encoder, [narrow, wide], likeness], { task, expect }) => {
    const input = await photo();
    const options = { format, quality: "high", max_bytes };
    const output = await rig.door.encode({ input: rig.serve(input), kind: "image", options });
    const { bytes, picture } = await readFacts(output.path);
    const { width = 0, height = 0 } = picture ?? {};
    expect(output.task.steps[2]?.output).toMatchObject({ encoder, width, height, filesize: bytes });
    expect(bytes).toBeLessThanOrEqual(max_bytes);
    expect(bytes / max_bytes).toBeGreaterThan(0.8);
    expect([width >= narrow, width <= wide, Math.abs(height - width * 0.75) <= 1]).toEqual([
      true,
      true,
      true,
    ]);
    const { mean } = await measureLikeness(output.path, input, { filter: `scale=${width}:${height}` });
    note(task, { format, max_bytes, bytes, width, ssim: mean });
    expect(mean).toBeGreaterThan(likeness);
  },
);

test.concurrent("an animated GIF of limited size keeps its frames", LIMIT, async ({ expect }) => {
  const input = rig.serve(await clip("gif_animated", { seconds: 1, rate: 10 }));
  const { path } = await rig.door.encode({ input, kind: "image", options: { max_bytes: 40_000 } });
  const { bytes, picture } = await readFacts(path);
  expect(bytes).toBeLessThanOrEqual(40_000);
  expect(bytes).toBeGreaterThan(30_000);
  expect([picture?.codec, picture?.times.length]).toEqual(["gif", 10]);
});

test.concurrent("a limit that no picture can meet is an error", LIMIT, async ({ expect }) => {
  const input = rig.serve(await photo());
  const task = await rig.door.runTask({ input, kind: "image", options: { format: "jpeg", max_bytes: 200 } });
  expect(task).toMatchObject({ status: "failed", error: { kind: "invalid_options", retryable: false } });
  expect(task.error?.message).toMatch(
    /^options\.max_bytes \(200\) is too small for this picture; at its lowest quality and size it takes \d{3,4}\.$/,
  );
});
