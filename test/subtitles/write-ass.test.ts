import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { BURN_FONT } from "../../src/media/features/subtitles.ts";
import { writeAss } from "../../src/subtitles/ass.ts";
import { fitText, readFont, readFontLetters, unpackFont } from "../../src/subtitles/font.ts";
import { readSubtitleFile } from "../../src/subtitles/text-formats.ts";
import { packWoff } from "../fixtures/woff.ts";

const WHITE = [255, 255, 255, 255];
const LOOK = {
  ...{ width: 1920, height: 1080, font: "DejaVu Sans", size: 72 },
  colors: { letters: WHITE, outline: [0, 0, 0], box: null },
};

function eventsOf(text: string, look = LOOK): string[] {
  const cues = [...(readSubtitleFile(text)?.cues ?? [])].flatMap((cue) => cue ?? []);
  return writeAss(cues, look)
    .split("\n")
    .filter((line) => line.startsWith("Dialogue"))
    .map((line) => line.replace("Dialogue: 0,", "").replace(",Default,,0,0,0,,", " "));
}

test("of a hostile file only text, times, faces and places are left", () => {
  const hostile = [
    "[V4+ Styles]",
    "Style: Default,Comic,9000,&H00FFFFFF,&H0,&H0,&H0,0,0,0,0,900,900,0,0,1,99,99,2,0,0,0,1",
    "[Fonts]",
    "fontname: evil.ttf",
    "[Events]",
    "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text",
    "Dialogue: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,Banner;9,{\\fs9000\\p1}m 0 0 l 9 9{\\p0}a{\\an8\\i1\\pos(1,2)\\t(\\fscx9000)}b\\Nc \\clip {",
    "Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,no",
  ].join("\n");
  expect(eventsOf(hostile)).toEqual(["0:00:00.00,0:00:01.00 {\\an8}a{\\i1}b\\Nc \\\u2060clip \\{{\\i0}"]);
  const written = writeAss([], LOOK);
  expect(written).toContain("Style: Default,DejaVu Sans,72,&H00FFFFFF,");
  expect(written).not.toMatch(/Comic|evil/);
});

test("tags that a text spells out are shown, and a cue says where it is", () => {
  const vtt = (settings: string, text: string) =>
    `WEBVTT\n\n00:01.234 --> 01:02:03.996${settings}\n${text}\n`;
  const at = "0:00:01.23,1:02:04.00";
  expect(eventsOf(vtt("", "&lt;b> {\\b1} \\N \\\\"))).toEqual([
    `${at} {\\an2}<b> \\{\\\u2060b1\\} \\\u2060N \\\u2060\\\u2060`,
  ]);
  for (const [settings, place] of [
    [" line:0", 8],
    [" line:10% align:start", 7],
    [" line:90% align:right", 3],
    [" line:-1", 2],
    [" align:left", 1],
  ] as const) {
    expect(eventsOf(vtt(settings, "x"))).toEqual([`${at} {\\an${place}}x`]);
  }
  const look = { ...LOOK, place: { anchor: [0.5, 0.5], margins: [1, 2, 3] } } as const;
  expect(eventsOf(vtt(" line:0", "x"), look)).toEqual([`${at} {\\an5}x`]);
  expect(writeAss([], look)).toContain(",5.14,0,2,1,2,3,");
});

async function readDejaVu(): Promise<Uint8Array> {
  const path = createRequire(import.meta.url).resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf");
  return new Uint8Array(await readFile(path));
}

/** Returns a font with another table in place of its own. */
async function withTable(name: string, table: Buffer): Promise<Uint8Array> {
  const font = Buffer.concat([await readDejaVu(), table]);
  font.writeUInt32BE(font.length - table.length, font.indexOf(name) + 8);
  return new Uint8Array(font);
}

test("a crafted font neither stalls nor fills memory", async () => {
  const names = Buffer.alloc(6 + 12 * 65_535 + 65_534);
  names.writeUInt16BE(65_535, 2);
  for (let record = 6; record < 12 * 65_535; record += 12)
    for (const [index, value] of [3, 1, 0, 1, 65_534].entries())
      names.writeUInt16BE(value, record + 2 * index);
  const named = await withTable("name", names);
  expect(() => readFont(named)).toThrow(
    "The file must be a TrueType or OpenType font, uncompressed or in WOFF 1.0",
  );
  const groups = 1_000_000;
  const cmap = Buffer.alloc(28 + 12 * groups);
  for (const [at, value] of [
    [2, 1],
    [12, 12],
  ] as const)
    cmap.writeUInt16BE(value, at);
  cmap.writeUInt32BE(12, 8);
  cmap.writeUInt32BE(groups, 24);
  const listed = await withTable("cmap", cmap);
  const before = process.memoryUsage().heapUsed;
  const { hasLetter } = readFont(listed);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2 ** 24);
  expect(hasLetter(65)).toBe(false);
}, 5000);

test("a WOFF contains the font that it was packed from; a damaged one, or one that expands too far, is refused", async () => {
  const font = Buffer.from(await readDejaVu());
  const max = 24 * 2 ** 20;
  const unpacked = await unpackFont(packWoff(font), max);
  const tables = (bytes: Buffer) =>
    Array.from({ length: bytes.readUInt16BE(4) }, (_, index) => {
      const [at, size] = [8, 12].map((field) => bytes.readUInt32BE(12 + index * 16 + field)) as [
        number,
        number,
      ];
      const name = bytes.toString("latin1", 12 + index * 16, 16 + index * 16);
      return [name, bytes.subarray(at, at + size).toString("base64")];
    });
  expect(tables(Buffer.from(unpacked))).toEqual(tables(font));
  expect(readFont(unpacked)).toMatchObject({ family: "DejaVu Sans" });
  expect(await unpackFont(font, max)).toBe(font);
  const refusal = async (bytes: Buffer, maxBytes = max) =>
    unpackFont(bytes, maxBytes).catch(({ kind }: { kind: string }) => kind);
  expect({
    truncated: await refusal(packWoff(font).subarray(0, 200_000)),
    short: await refusal(packWoff(font).subarray(0, 100)),
    smaller: await refusal(packWoff(font, { glyf: 1000 })),
    larger: await refusal(packWoff(font, { glyf: 1_000_000 })),
    bomb: await refusal(packWoff(font, { glyf: 2 ** 31 })),
    limit: await refusal(packWoff(font), 700_000),
  }).toEqual({
    truncated: "input_unsupported",
    short: "input_unsupported",
    smaller: "input_unsupported",
    larger: "input_unsupported",
    bomb: "input_too_large",
    limit: "input_too_large",
  });
});

test("a text is fitted to the font, and says what the font lacks", async () => {
  const font = await readDejaVu();
  expect(font.length).toBe(BURN_FONT.size);
  const has = readFontLetters(font);
  const all = "Ångström “quotes” – Ελληνικά Русский Українська Tiếng Việt עברית عربي ♪ € ½ \\{}\u2060";
  expect(fitText(all, has)).toEqual({ text: all, missing: [] });
  expect(fitText("e\u0301 日本日\u3000\u{e0101}x\n", has)).toEqual({
    text: "é 日本日 x\n",
    missing: ["日", "本"],
  });
  expect(() => readFontLetters(font.subarray(0, 12))).toThrow(RangeError);
});
