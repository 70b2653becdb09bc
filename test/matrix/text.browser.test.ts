import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TextOption } from "../../src/media/option-shapes.ts";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { colorDistance, readPicture } from "../judge/picture.ts";
import { readWords } from "../judge/read-words.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
let page: ClientLab;
let film: string;
let photo: string;
beforeAll(async () => {
  [rig, page] = [await openRig(), await openClientLab()];
  const dark = "testsrc2=size=640x360:rate=25:duration=1.2,format=yuv420p,lutyuv=y=val*0.6";
  film = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", dark],
    ..."-c:v libx264 -preset veryfast -crf 12 -colorspace bt709".split(" "),
  ]);
  photo = await makeClip("png", [...["-f", "lavfi", "-i", dark], "-pix_fmt", "rgb24", "-frames:v", "1"]);
  await page.serve(film, "film.mp4");
  await page.serve(photo, "photo.png");
  await openKit(page.lab.page, { name: "text" });
});
afterAll(async () => {
  await page?.close();
  await rig?.close();
});

const LIMIT = { timeout: 240_000 };
const SERVED = { video: "film.mp4", animation: "film.mp4", image: "photo.png" } as const;
type Kind = keyof typeof SERVED;

async function byService(kind: Kind, options: object) {
  const input = rig.serve(kind === "image" ? photo : film);
  const { path, task } = await rig.door.encode({ input, kind, options } as Parameters<
    Rig["door"]["encode"]
  >[0]);
  return { path, encoder: task.steps[2]?.output?.encoder };
}

let outputs = 0;

async function byPage(kind: Kind, options: object) {
  const { base64, encoder } = await page.lab.page.evaluate(
    async ({ kind, name, options }) => {
      const input = await kit.file(`/files/${name}`, name);
      const { blob, source } = await kit.client.run({ input, kind, options } as never);
      return { base64: await kit.base64(blob), encoder: source.encoder };
    },
    { kind, name: SERVED[kind], options },
  );
  const path = join(page.folder, `text-${outputs++}`);
  await writeFile(path, Buffer.from(base64, "base64"));
  return { path, encoder };
}

const TEXT: TextOption[] = [
  { text: "The quick brown fox\njumps over the lazy dog", position: "bottom", size: "8%" },
  {
    text: "Zebras",
    position: { x: 40, y: 30 },
    size: 30,
    color: "#ff2080",
    box: "#0040c0",
    start: 0.52,
    end: 1,
  },
];

test("words, colors and times are those of the request, alike on each host", LIMIT, async () => {
  const light = await byService("video", { text: TEXT, quality: "very_high" });
  const native = await byService("video", { text: TEXT, quality: "very_high", codec: "h265" });
  const local = await byPage("video", { text: TEXT, quality: "very_high" });
  expect([light.encoder, native.encoder, local.encoder]).toEqual(["light", "native", "wasm"]);
  for (const { path } of [light, native, local]) {
    const words = ["The quick brown fox", "jumps over the lazy dog"];
    expect(await readWords(path, 0.2)).toEqual(words);
    // Blue in the padding of the box, from the first picture of its text to the last.
    for (const [frame, shown] of [
      [12, false],
      [13, true],
      [24, true],
      [25, false],
    ] as const) {
      const color = (await readPicture(path, { frame })).at(37, 48);
      expect([frame, colorDistance(color, [0, 0x40, 0xc0, 255]) < 12]).toEqual([frame, shown]);
    }
  }
  for (const other of [native, local])
    expect((await measureLikeness(other.path, light.path, {})).worst).toBeGreaterThan(0.97);
});

test("pictures have the same pixels on each host, and shrink with their text", LIMIT, async () => {
  const text = TEXT.map(({ start: _, end: __, ...still }) => still);
  const options = { format: "png", text };
  const [light, local] = [await byService("image", options), await byPage("image", options)];
  expect([light.encoder, local.encoder]).toEqual(["light", "wasm"]);
  const native = await byService("image", { ...options, format: "avif", quality: "very_high" });
  expect(native.encoder).toBe("native");
  expect((await measureLikeness(local.path, light.path, { pixels: "gbrp" })).worst).toBeGreaterThan(0.999);
  expect((await measureLikeness(native.path, light.path, {})).worst).toBeGreaterThan(0.96);
  const small = await byService("image", { ...options, max_bytes: 20_000 });
  const { width, height } = await readPicture(small.path);
  expect(width).toBeLessThan(500);
  const like = { filter: `scale=${width}:${height}`, pixels: "gbrp" };
  expect((await measureLikeness(small.path, light.path, like)).worst).toBeGreaterThan(0.9);
});

test("an animation shows a text in its time", LIMIT, async () => {
  const options = { text: [{ ...TEXT[1], end: undefined }], fps: 10, width: 320 };
  const { path } = await byService("animation", options);
  for (const [frame, shown] of [
    [5, false],
    [6, true],
    [11, true],
  ] as const) {
    const color = (await readPicture(path, { frame })).at(38, 46);
    expect([frame, colorDistance(color, [0, 0x40, 0xc0, 255]) < 30]).toEqual([frame, shown]);
  }
});

test("a letter without a glyph is refused by name", LIMIT, async () => {
  const options = { text: [{ text: "Hello" }, { text: "\u{1f9d1}" }] };
  const { status, error } = await rig.door.runTask({ input: rig.serve(photo), kind: "image", options });
  expect([status, error?.kind]).toEqual(["failed", "invalid_options"]);
  expect(error?.message).toBe("options.text.1.text has letters that the font lacks: \u{1f9d1}.");
});
