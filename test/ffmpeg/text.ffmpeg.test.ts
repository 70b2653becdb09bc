import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { NATIVE_TOOLS, type Toolset } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { TextOption } from "../../src/media/option-shapes.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import { parseTaskRequest } from "../../src/runs/requests.ts";
import { writeTextScript } from "../../src/runs/steps/text-scripts.ts";
import { joinFonts, nameFonts, readFont, unpackFont } from "../../src/subtitles/font.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { runNative } from "../judge/native.ts";
import { colorDistance, readPicture } from "../judge/picture.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probe } from "../probe/probe-file.ts";

// Lossless, so that pixels outside the text do not change.
const TOOLS: Toolset = {
  ...NATIVE_TOOLS,
  video: { ...NATIVE_TOOLS.video, h264: { encoder: "libx264", args: ["-preset", "ultrafast"] } },
};
const { resolve } = createRequire(import.meta.url);
const FONT = resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf");
const THAI = resolve("@expo-google-fonts/noto-sans-thai/400Regular/NotoSansThai_400Regular.ttf");
const DEVANAGARI = resolve(
  "@expo-google-fonts/noto-sans-devanagari/400Regular/NotoSansDevanagari_400Regular.ttf",
);

const JAPANESE = resolve("@fontsource/noto-sans-jp/files/noto-sans-jp-1-400-normal.woff");

let folder: string;
let film: string;
let photo: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-text-"));
  film = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "color=gray:size=320x240:rate=25:duration=3,format=yuv420p"],
    ..."-c:v libx264 -preset veryfast -g 25 -colorspace bt709 -color_primaries bt709 -color_trc bt709".split(
      " ",
    ),
  ]);
  photo = await makeClip("png", [
    ...["-f", "lavfi", "-i", "color=0x808080:size=320x240,format=rgb24", "-frames:v", "1"],
  ]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Draws texts into a file with native ffmpeg, in chunks, and returns the paths of their outputs. */
async function draw<K extends "video" | "image" | "animation">(
  kind: K,
  input: string,
  text: TextOption[],
  options: OptionsOf<K> = {} as OptionsOf<K>,
  chunk_seconds = 60,
  others: readonly Uint8Array[] = [],
): Promise<string[]> {
  const source = await probe(input);
  const plan = createPlan(source, kind as EncodeKind, { ...options, text }, { chunk_seconds });
  expect(plan.further?.map(({ role }) => role)).toEqual(["text", "font"]);
  const planned = plan.image?.text ?? (plan.video?.mode === "encode" ? plan.video.text : undefined);
  const fonts = nameFonts([...others, new Uint8Array(await readFile(FONT))].map(readFont));
  const home = await mkdtemp(join(folder, "job-"));
  const files = [writeTextScript(text, planned ?? { width: 0, height: 0 }, fonts), joinFonts(fonts)];
  const paths = files.map((_, at) => join(home, `further-${at}`, "input"));
  for (const [at, path] of paths.entries()) {
    await mkdir(dirname(path));
    await writeFile(path, files[at] ?? "");
  }
  const outputs: string[] = [];
  for (const chunk of plan.chunks.filter(({ track }) => track !== "audio")) {
    const output = join(home, `${chunk.index}.${plan.format}`);
    const io = { input, output, extra: paths.map((path) => ({ path, input: [] })) };
    await runNative(["-y", ...chunkArgs(plan, chunk, source, io, TOOLS)]);
    outputs.push(output);
  }
  return outputs;
}

/** Returns the edges of the area that differs from the gray background. */
async function edgesOf(path: string, frame = 0) {
  const { width, height, at } = await readPicture(path, { frame });
  const edges = { left: width, top: height, right: 0, bottom: 0 };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (Math.abs((at(x, y)[0] ?? 0) - 128) < 40) continue;
      edges.left = Math.min(edges.left, x);
      edges.right = Math.max(edges.right, x);
      edges.top = Math.min(edges.top, y);
      edges.bottom = Math.max(edges.bottom, y);
    }
  }
  return edges;
}

const BLOCK = "\u2588";

// A block letter fills its line; the margins of 320x240 are 16 and 12 pixels.
test.for([
  { position: "top-left", expected: { left: 16, top: 12 } },
  { position: "top-right", expected: { right: 303, top: 12 } },
  { position: "bottom", expected: { bottom: 227 } },
  { position: "bottom-left", expected: { left: 16, bottom: 227 } },
  { position: { x: 40, y: "50%" }, expected: { left: 40, top: 120 } },
  { position: "center", expected: {} },
] as const)("a text at $position is drawn there", async ({ position, expected }) => {
  const [path = ""] = await draw("image", photo, [{ text: BLOCK, size: 40, position }], { format: "png" });
  const edges = await edgesOf(path);
  for (const [side, at] of Object.entries(expected))
    expect([side, Math.abs(edges[side as keyof typeof edges] - at) <= 2]).toEqual([side, true]);
  if (position === "center") {
    expect(Math.abs(edges.left + edges.right - 319)).toBeLessThanOrEqual(2);
    expect(Math.abs(edges.top + edges.bottom - 239)).toBeLessThanOrEqual(2);
  }
});

test("letters beyond U+FFFF are drawn, not the boxes of missing ones", async () => {
  const japanese = await unpackFont(await readFile(JAPANESE), 2 ** 20);
  const [one, other] = await Promise.all(
    ["\u{20bb7}", "\u{20089}"].map(async (text) => {
      const [path = ""] = await draw("image", photo, [{ text, size: 80 }], { format: "png" }, 60, [japanese]);
      return readFile(path);
    }),
  );
  expect(one?.equals(other ?? Buffer.alloc(0))).toBe(false);
});

/** Returns a font with a table of names that holds only a family name. */
function withFamily(font: Buffer, family: string): Buffer {
  const names = Buffer.alloc(18 + family.length * 2);
  // The table has one record, for Windows in English; its text follows.
  for (const [index, value] of [0, 1, 18, 3, 1, 0x409, 1, family.length * 2, 0].entries())
    names.writeUInt16BE(value, index * 2);
  names.set(Buffer.from(family, "utf16le").swap16(), 18);
  const renamed = Buffer.concat([font, names]);
  const entry = renamed.indexOf("name");
  renamed.writeUInt32BE(font.length, entry + 8);
  renamed.writeUInt32BE(names.length, entry + 12);
  expect(readFont(new Uint8Array(renamed)).family).toBe(family);
  return renamed;
}

test("a font is drawn whatever its family name, even that of another font", async () => {
  const [own, other] = [await readFile(THAI), await readFile(DEVANAGARI)];
  const lists = [
    [own],
    [withFamily(own, "Noto {S}(Thai), @1")],
    [withFamily(own, " Noto Sans ")],
    [withFamily(own, "DejaVu Sans")],
    [withFamily(other, "Noto Sans Thai"), own],
  ];
  const pictures = lists.map(async (fonts) => {
    const text = [{ text: "สวัสดี", size: 60 }];
    const files = fonts.map((font) => new Uint8Array(font));
    const [path = ""] = await draw("image", photo, text, { format: "png" }, 60, files);
    return (await readFile(path)).toString("base64");
  });
  const [first, ...others] = await Promise.all(pictures);
  expect(others.map((each) => each === first)).toEqual([true, true, true, true]);
});

test("brackets in lines that mix both directions stay with their words", async () => {
  // A direction override shows letters in the order in which they are written.
  const pairs = [
    ["אבג (דה) abc (de)", "\u202dabc (de) (הד) גבא\u202c"],
    ["a אבג (דה)", "\u202da (הד) גבא\u202c"],
  ];
  for (const pair of pairs) {
    const pictures = pair.map(async (text) => {
      const [path = ""] = await draw("image", photo, [{ text, size: 30 }], { format: "png" });
      return path;
    });
    const [one = "", two = ""] = await Promise.all(pictures);
    expect((await measureLikeness(one, two, { pixels: "gbrp" })).worst).toBeGreaterThan(0.99);
  }
});

test("lines may end with a carriage return and a line feed", async () => {
  const pictures = ["One\nTwo", "One\r\nTwo"].map(async (text) => {
    expect(() =>
      parseTaskRequest({ input: "https://a.example/a.png", kind: "image", options: { text: [{ text }] } }),
    ).not.toThrow();
    const [path = ""] = await draw("image", photo, [{ text, size: 60 }], { format: "png" });
    return (await readFile(path)).toString("base64");
  });
  const [one, two] = await Promise.all(pictures);
  expect(one === two).toBe(true);
});

test("letters and boxes have the requested colors over videos, images and animations", async () => {
  const text = [
    { text: BLOCK, size: 60, position: "left", color: "#e01060" },
    { text: BLOCK, size: 60, position: "right", color: "#ffd400", box: "#0040c080" },
  ] as const;
  const [video = ""] = await draw("video", film, [...text]);
  const [image = ""] = await draw("image", photo, [...text], { format: "png" });
  const [gif = ""] = await draw("animation", film, [...text], { format: "gif" });
  for (const path of [video, image, gif]) {
    const picture = await readPicture(path);
    const expected = [
      [30, 120, 0xe0, 0x10, 0x60],
      [280, 120, 0xff, 0xd4, 0x00],
      // The box lets half of the gray through.
      [310, 120, 64, 96, 160],
      [160, 120, 128, 128, 128],
    ] as const;
    for (const [x, y, ...color] of expected)
      expect([x, colorDistance(picture.at(x, y), [...color, 255]) <= 6]).toEqual([x, true]);
  }
});

test("a text is visible from its start to its end only, across chunks", async () => {
  const text: TextOption[] = [
    { text: BLOCK, size: 60, start: 0.4, end: 1.2 },
    { text: "end", position: "bottom", start: 2.96 },
  ];
  const paths = await draw("video", film, text, {}, 1);
  expect(paths).toHaveLength(3);
  const shown: number[] = [];
  let frames = 0;
  for (const path of paths) {
    const { output } = await runNative([
      ...["-i", path, "-vf", "signalstats,metadata=print:key=lavfi.signalstats.YMAX:file=-"],
      ...["-f", "null", "/dev/null"],
    ]);
    for (const [, value] of output.toString().matchAll(/YMAX=(\d+)/g)) {
      if (Number(value) > 200) shown.push(frames);
      frames++;
    }
  }
  expect(frames).toBe(75);
  expect(shown).toEqual([...Array.from({ length: 20 }, (_, at) => at + 10), 74]);
});
