import { afterAll, beforeAll, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 180_000 };
const picture = (graph: string) =>
  makeClip("png", ["-f", "lavfi", "-i", graph, "-frames:v", "1", "-bitexact"]);
const SLIDE = "smptehdbars=s=320x240";

test.concurrent.for([
  ["webp", "light", 40, 87],
  ["avif", "native", 23, 45],
] as const)(
  "a %s of quality auto has a score and a rate",
  LIMIT,
  async ([format, encoder, least, most], { task, expect }) => {
    const input = rig.serve(await picture(SLIDE));
    const run = (quality: string) => rig.door.encode({ input, kind: "image", options: { format, quality } });
    const [auto, high] = [await run("auto"), await run("high")];
    const output = auto.task.steps.find(({ kind }) => kind === "image")?.output;
    const [{ bytes }, { bytes: fixed }] = [await readFacts(auto.path), await readFacts(high.path)];
    note(task, { format, bytes, fixed, score: output?.score ?? null, rate: output?.rate ?? null });
    expect(output).toMatchObject({ encoder, width: 320, height: 240 });
    expect(output?.score).toBeGreaterThanOrEqual(0.97);
    expect(output?.rate).toBeGreaterThanOrEqual(least);
    expect(output?.rate).toBeLessThanOrEqual(most);
    expect(bytes).toBeLessThanOrEqual(fixed);
  },
);

test.concurrent("a video of quality auto has a score and a rate", LIMIT, async ({ task, expect }) => {
  const film = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1"],
    ...["-c:v", "libx264", "-crf", "12", "-pix_fmt", "yuv420p", "-c:a", "aac"],
  ]);
  const run = (options: object) =>
    rig.door.encode({ input: rig.serve(film), kind: "video", options: { format: "webm", ...options } });
  const auto = await run({ codec: "av1", quality: "auto" });
  const output = auto.task.steps.find(({ kind }) => kind === "video")?.output;
  note(task, { score: output?.score ?? null, rate: output?.rate ?? null });
  expect(output).toMatchObject({ encoder: "native", counts: { pictures: { source: 25, output: 25 } } });
  expect(output?.score).toBeGreaterThan(0.96);
  expect(output?.rate).toBeGreaterThanOrEqual(30);
  expect(output?.rate).toBeLessThanOrEqual(50);
});

test.concurrent(
  "a stream with a measured ladder states the score and the rate of each rendition",
  LIMIT,
  async ({ expect }) => {
    const film = await makeClip("mp4", [
      ...["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=2", "-c:v", "libx264", "-pix_fmt", "yuv420p"],
    ]);
    const request = { kind: "adaptive_video", options: { format: "dash", ladder: "auto" } } as const;
    const { status, steps } = await rig.door.runTask({ input: rig.serve(film), ...request });
    const output = steps.at(-1)?.output;
    const [best] = output?.renditions ?? [];
    expect([status, output?.renditions?.length, best?.width, best?.height]).toEqual([
      "succeeded",
      1,
      320,
      240,
    ]);
    expect([23, 27]).toContain(best?.rate);
    expect(best?.score).toBeGreaterThan(0.8);
    expect([output?.score, output?.rate]).toEqual([best?.score, best?.rate]);
  },
);

test.concurrent("auto is refused for a format without adjustable quality", LIMIT, async ({ expect }) => {
  const input = rig.serve(await picture(SLIDE));
  const { status, error } = await rig.door.runTask({ input, kind: "image", options: { quality: "auto" } });
  expect([status, error?.kind, error?.message]).toEqual([
    "failed",
    "invalid_options",
    'options.quality "auto" needs a format with adjustable quality: jpeg, webp or avif, not png.',
  ]);
});
