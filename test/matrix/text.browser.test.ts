import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TextOption } from "../../src/media/option-shapes.ts";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { packWoff } from "../fixtures/woff.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { colorDistance, type Picture, readPicture } from "../judge/picture.ts";
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
      const { subtitles = [] } = options as { subtitles?: { url: string }[] };
      const files = subtitles.map(async (each) => ({
        ...each,
        url: await kit.file(`/files/${each.url}`, each.url),
      }));
      const all = { ...options, ...(files.length > 0 && { subtitles: await Promise.all(files) }) };
      const { blob, source } = await kit.client.run({ input, kind, options: all } as never);
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

test("every host draws the words of a video in their colors and at their times", LIMIT, async () => {
  const light = await byService("video", { text: TEXT, quality: "very_high" });
  const native = await byService("video", { text: TEXT, quality: "very_high", codec: "h265" });
  const local = await byPage("video", { text: TEXT, quality: "very_high" });
  expect([light.encoder, native.encoder, local.encoder]).toEqual(["light", "native", "wasm"]);
  for (const { path } of [light, native, local]) {
    const words = ["The quick brown fox", "jumps over the lazy dog"];
    expect(await readWords(path, 0.2)).toEqual(words);
    // The padding of the box is blue from the first picture of its text to the last.
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

test("every host draws burnt-in subtitles in the colors, size and place of their style", LIMIT, async () => {
  const srt = `1\n00:00:00,520 --> 00:00:01,000\nThe quick brown fox\njumps over the lazy dog\n`;
  const style = {
    color: "#ffd400",
    outline: "#102030",
    box: "#0040c0",
    size: "9%",
    position: { x: 60, y: 30 },
  };
  await page.serve(await writeSrt(srt), "styled.srt");
  const url = rig.origin.serve("/styled.srt", { file: new TextEncoder().encode(srt) });
  const options = { quality: "very_high", subtitles: [{ url, burn: true, style }] };
  const light = await byService("video", options);
  const native = await byService("video", { ...options, codec: "h265" });
  const local = await byPage("video", { ...options, subtitles: [{ url: "styled.srt", burn: true, style }] });
  expect([light.encoder, native.encoder, local.encoder]).toEqual(["light", "native", "wasm"]);
  for (const { path } of [light, native, local]) {
    expect(await readWords(path, 0.6)).toEqual(["The quick brown fox", "jumps over the lazy dog"]);
    const [before, shown] = [await readPicture(path, { frame: 12 }), await readPicture(path, { frame: 13 })];
    const isBox = (picture: Picture) => colorDistance(picture.at(56, 60), [0, 0x40, 0xc0, 255]) < 12;
    expect([isBox(before), isBox(shown)]).toEqual([false, true]);
    // Strokes are about four pixels wide, and chroma has half the resolution.
    for (const color of [
      [0xff, 0xd4, 0, 255],
      [0x10, 0x20, 0x30, 255],
    ] as const)
      expect(countColor(shown, color) - countColor(before, color)).toBeGreaterThan(100);
  }
  for (const other of [native, local])
    expect((await measureLikeness(other.path, light.path, {})).worst).toBeGreaterThan(0.97);
});

async function writeSrt(text: string): Promise<string> {
  const path = join(page.folder, "styled.srt");
  await writeFile(path, text);
  return path;
}

function countColor({ width, height, at }: Picture, color: Parameters<typeof colorDistance>[0]): number {
  let count = 0;
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) if (colorDistance(at(x, y), color) < 48) count++;
  return count;
}

test("images with text are alike on every host, and max_bytes scales the text with them", LIMIT, async () => {
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

test(
  "letters ten times as high as the pictures are drawn where there is memory for them",
  LIMIT,
  async () => {
    const options = { text: [{ text: "ABCD", size: "1000%" }], quality: "very_high" };
    const [service, local] = [await byService("video", options), await byPage("video", options)];
    expect([service.encoder, local.encoder]).toEqual(["native", "wasm"]);
    expect((await measureLikeness(local.path, service.path, {})).worst).toBeGreaterThan(0.97);
  },
);

test("an animation shows a text from its start on", LIMIT, async () => {
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

test("a letter that all fonts lack fails the task, and the message names it", LIMIT, async () => {
  const options = { text: [{ text: "Hello" }, { text: "\u{1f9d1}" }] };
  const { status, error } = await rig.door.runTask({ input: rig.serve(photo), kind: "image", options });
  expect([status, error?.kind]).toEqual(["failed", "invalid_options"]);
  expect(error?.message).toBe(
    "options.text.1.text has letters that the fonts lack: \u{1f9d1}; options.fonts takes fonts that have them.",
  );
});

const PACKAGES = createRequire(import.meta.url);
const SCRIPTS = {
  Thai: { text: "ภาษาไทยที่นี่", file: "noto-sans-thai/400Regular/NotoSansThai_400Regular.ttf" },
  Devanagari: {
    text: "हिन्दी शक्ति",
    file: "noto-sans-devanagari/400Regular/NotoSansDevanagari_400Regular.ttf",
  },
  Arabic: {
    text: "مرحبا بالعالم",
    file: "noto-naskh-arabic/400Regular/NotoNaskhArabic_400Regular.ttf",
  },
  Japanese: { text: "日本語の文字", file: "dotgothic16/400Regular/DotGothic16_400Regular.ttf" },
} as const;
type Script = keyof typeof SCRIPTS;
const fontOf = (script: Script) => PACKAGES.resolve(`@expo-google-fonts/${SCRIPTS[script].file}`);

/** Draws white letters in a font with the browser's own shaper. */
async function byBrowser(font: string, text: string): Promise<Picture> {
  const base64 = (await readFile(font)).toString("base64");
  const png = await page.lab.page.evaluate(
    async ({ base64, text }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const face = await new FontFace("Judge", bytes).load();
      document.fonts.add(face);
      const canvas = new OffscreenCanvas(640, 200);
      const drawing = canvas.getContext("2d");
      if (!drawing) throw new Error("There is no canvas.");
      drawing.fillRect(0, 0, 640, 200);
      drawing.fillStyle = "#fff";
      drawing.font = "60px Judge";
      drawing.textAlign = "center";
      drawing.fillText(text, 320, 120);
      document.fonts.delete(face);
      return kit.base64(await canvas.convertToBlob());
    },
    { base64, text },
  );
  const path = join(page.folder, `text-${outputs++}.png`);
  await writeFile(path, Buffer.from(png, "base64"));
  return readPicture(path);
}

const COLUMNS = 96;
const ROWS = 32;

/** Returns the size of the ink of white letters on black, and its brightness on a grid. */
function inkOf({ width, height, at }: Picture) {
  const points: [number, number][] = [];
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) if ((at(x, y)[1] ?? 0) > 110) points.push([x, y]);
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const size = { width: Math.max(...xs) - left, height: Math.max(...ys) - top };
  const grid = Array.from({ length: COLUMNS * ROWS }, (_, index) => {
    const x = Math.round(left + ((index % COLUMNS) / (COLUMNS - 1)) * size.width);
    const y = Math.round(top + (Math.floor(index / COLUMNS) / (ROWS - 1)) * size.height);
    return at(x, y)[1] ?? 0;
  });
  return { ...size, grid };
}

/** Returns how alike the letters of two pictures are, from -1 to 1; 0 when their sizes differ by more than a twentieth. */
function letterLikeness(one: Picture, other: Picture): number {
  const [a, b] = [inkOf(one), inkOf(other)];
  const near = (x: number, y: number) => Math.abs(x - y) <= 0.05 * Math.max(x, y) + 2;
  return near(a.width, b.width) && near(a.height, b.height) ? correlate(a.grid, b.grid) : 0;
}

function correlate(one: readonly number[], other: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const [a, b] = [mean(one), mean(other)];
  const product = (f: readonly number[], g: readonly number[], x: number, y: number) =>
    f.reduce((sum, each, at) => sum + (each - x) * ((g[at] ?? 0) - y), 0);
  return product(one, other, a, b) / Math.sqrt(product(one, one, a, a) * product(other, other, b, b));
}

test.for(Object.keys(SCRIPTS) as Script[])(
  "%s letters have the shapes that the browser gives them, in text and in subtitles",
  LIMIT,
  async (script) => {
    const { text } = SCRIPTS[script];
    const [expected, reversed] = [
      await byBrowser(fontOf(script), text),
      await byBrowser(fontOf(script), [...text].reverse().join("")),
    ];
    const black = await makeClip("png", [
      ...["-f", "lavfi", "-i", "color=black:size=640x200", "-frames:v", "1", "-pix_fmt", "rgb24"],
    ]);
    const dark = await makeClip("mp4", [
      ...["-f", "lavfi", "-i", "color=black:size=1280x900:rate=5:duration=1", "-pix_fmt", "yuv420p"],
    ]);
    const fonts = [{ url: rig.origin.serve(`/${script}.ttf`, { file: fontOf(script) }) }];
    const image = await rig.door.encode({
      ...{ input: rig.serve(black), kind: "image" },
      options: { format: "png", text: [{ text, size: 60 }], fonts },
    });
    const srt = new TextEncoder().encode(`1\n00:00:00,000 --> 00:00:01,000\n${text}\n`);
    const subtitles = [{ url: rig.origin.serve(`/${script}.srt`, { file: srt }), burn: true }];
    const video = await rig.door.encode({
      ...{ input: rig.serve(dark), kind: "video" },
      options: { codec: "h265", quality: "very_high", subtitles, fonts },
    });
    const drawn = await readPicture(image.path);
    const [like, other] = [letterLikeness(drawn, expected), letterLikeness(drawn, reversed)];
    expect([like > 0.85, other < 0.7], `${like}, ${other}`).toEqual([true, true]);
    const burnt = await readPicture(video.path, { filter: "crop=iw:ih/4:0:ih*3/4" });
    expect(correlate(inkOf(burnt).grid, inkOf(expected).grid)).toBeGreaterThan(0.75);
  },
);

/** Texts with letters that DejaVu Sans lacks, and the subset of the Noto font that has them. */
const NOTO = [
  { text: "ภาษาไทยที่นี่", subset: "thai/files/noto-sans-thai-thai" },
  { text: "हिन्दी शक्ति", subset: "devanagari/files/noto-sans-devanagari-devanagari" },
  { text: "தமிழ்", subset: "tamil/files/noto-sans-tamil-tamil" },
  { text: "ひらがなカタカナ", subset: "jp/files/noto-sans-jp-119" },
  { text: "안한", subset: "kr/files/noto-sans-kr-118" },
] as const;

const fileOf = ({ subset }: (typeof NOTO)[number]) =>
  join(import.meta.dirname, `../../node_modules/@fontsource/noto-sans-${subset}-400-normal.woff`);

test(
  "letters of other scripts look the same without the option fonts as with it, on every host",
  LIMIT,
  async () => {
    const height = 200;
    const blackPng = [
      "-f",
      "lavfi",
      "-i",
      `color=black:size=640x${height * NOTO.length}`,
      "-pix_fmt",
      "rgb24",
    ];
    const black = await makeClip("png", [...blackPng, "-frames:v", "1"]);
    await page.serve(black, "black.png");
    const text = NOTO.map((each, row) => ({
      ...{ text: each.text, size: 60 },
      position: { x: 60, y: row * height + 60 },
    }));
    const fonts = NOTO.map((each, at) => ({
      url: rig.origin.serve(`/noto-${at}.woff`, { file: fileOf(each) }),
    }));
    const draw = (options: object) =>
      rig.door.encode({ input: rig.serve(black), kind: "image", options: { text, ...options } });
    const lossless = { format: "png" } as const;
    const expected = await draw({ ...lossless, fonts });
    const light = await draw(lossless);
    const base64 = await page.lab.page.evaluate(async (texts) => {
      const input = await kit.file("/files/black.png", "black.png");
      const { blob } = await kit.client.run({
        input,
        kind: "image",
        options: { format: "png", text: texts },
      });
      return kit.base64(blob);
    }, text);
    const local = join(page.folder, "scripts.png");
    await writeFile(local, Buffer.from(base64, "base64"));
    for (const path of [light.path, local])
      expect((await measureLikeness(path, expected.path, { pixels: "gbrp" })).worst).toBeGreaterThan(0.9999);
    const native = await draw({ format: "avif", quality: "very_high" });
    expect(native.task.steps[2]?.output?.encoder).toBe("native");
    expect((await measureLikeness(native.path, expected.path, {})).worst).toBeGreaterThan(0.97);
    for (const [row, each] of NOTO.entries()) {
      const drawn = await readPicture(light.path, { filter: `crop=640:${height}:0:${row * height}` });
      const like = letterLikeness(drawn, await byBrowser(fileOf(each), each.text));
      expect([each.subset, like > 0.85], `${like}`).toEqual([each.subset, true]);
    }
  },
);

test("a page draws with a font from a file as the service does with its WOFF", LIMIT, async () => {
  await page.serve(fontOf("Thai"), "thai.ttf");
  const path = join(page.folder, "thai.png");
  const base64 = await page.lab.page.evaluate(async (text) => {
    const font = await kit.file("/files/thai.ttf", "thai.ttf");
    const input = await kit.file("/files/photo.png", "photo.png");
    const { blob } = await kit.client.run({
      ...{ input, kind: "image" },
      options: { format: "png", text: [{ text, size: 60 }], fonts: [{ url: font }] },
    });
    return kit.base64(blob);
  }, SCRIPTS.Thai.text);
  await writeFile(path, Buffer.from(base64, "base64"));
  const woff = packWoff(await readFile(fontOf("Thai")));
  const url = rig.origin.serve("/thai.woff", { file: new Uint8Array(woff) });
  const text = [{ text: SCRIPTS.Thai.text, size: 60, font: "Noto Sans Thai" }];
  const service = await byService("image", { format: "png", text, fonts: [{ url }] });
  expect((await measureLikeness(path, service.path, { pixels: "gbrp" })).worst).toBeGreaterThan(0.999);
});

test("a file that is not a font and an unknown family name are refused", LIMIT, async () => {
  const run = (options: object) =>
    rig.door.runTask({ input: rig.serve(photo), kind: "image", options } as Parameters<
      Rig["door"]["runTask"]
    >[0]);
  const file = await run({ text: [{ text: "a" }], fonts: [{ url: rig.serve(photo) }] });
  expect([file.error?.kind, file.error?.message]).toEqual([
    "input_unsupported",
    "options.fonts.0.url: The file must be a TrueType or OpenType font, uncompressed or in WOFF 1.0.",
  ]);
  const family = await run({ text: [{ text: "a", font: "Times" }] });
  expect([family.error?.kind, family.error?.message]).toEqual([
    "invalid_options",
    "options.text.0.font must be one of DejaVu Sans.",
  ]);
});
