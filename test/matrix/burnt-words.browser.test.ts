import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readWords } from "../judge/read-words.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
let page: ClientLab;
let source: string;
beforeAll(async () => {
  // Moving pictures, darker than letters.
  source = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=1.2,format=yuv420p,lutyuv=y=val*0.6"],
    ..."-c:v libx264 -preset veryfast -crf 12".split(" "),
  ]);
});
afterAll(async () => {
  await page?.close();
  await rig?.close();
});

/** Files of the same times with other words. */
const TEXTS = {
  srt: {
    text: "1\n00:00:00,520 --> 00:00:01,000\n<i>The quick brown fox</i>\njumps over the lazy dog.\n",
    words: ["The quick brown fox", "jumps over the lazy dog."],
  },
  vtt: {
    text: "WEBVTT\n\n00:00.520 --> 00:01.000\nPack my box with\nfive dozen liquor jugs\n",
    words: ["Pack my box with", "five dozen liquor jugs"],
  },
  ass: {
    text: [
      ...["[Script Info]", "ScriptType: v4.00+", "", "[Events]"],
      "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text",
      "Dialogue: 0,0:00:00.52,0:00:01.00,Default,,0,0,0,,{\\b1}How vexingly quick{\\b0}\\NDaft zebras jump!",
      "",
    ].join("\n"),
    words: ["How vexingly quick", "Daft zebras jump!"],
  },
} as const;
type Format = keyof typeof TEXTS;

async function byService(format: Format, options: object): Promise<BurntVideo> {
  const file = new TextEncoder().encode(TEXTS[format].text);
  const url = rig.origin.serve(`/words.${format}`, { file });
  const subtitles = [{ url, burn: true }];
  const { path, task } = await rig.door.encode({
    ...{ input: rig.serve(source), kind: "video", options: { ...options, subtitles } },
  });
  return { path, encoder: task.steps[2]?.output?.encoder };
}

async function byPage(format: Format): Promise<BurntVideo> {
  const video = await page.lab.page.evaluate(
    async ({ name, text }) => {
      const input = await kit.file("/files/dark.mp4", "dark.mp4");
      const subtitles = [{ url: new File([text], name), burn: true }];
      const { blob, source } = await kit.client.run({ input, kind: "video", options: { subtitles } });
      return { base64: await kit.base64(blob), encoder: source.encoder };
    },
    { name: `words.${format}`, text: TEXTS[format].text },
  );
  const path = join(page.folder, `burnt-${format}.mp4`);
  await writeFile(path, Buffer.from(video.base64, "base64"));
  return { path, encoder: video.encoder };
}

interface BurntVideo {
  path: string;
  encoder: string | undefined;
}

const LIMIT = { timeout: 240_000 };

async function checkWords({ path }: BurntVideo, format: Format) {
  expect(await readWords(path, 0.76)).toEqual(TEXTS[format].words);
  // The last picture before it, and the first after it.
  expect(await readWords(path, 0.48)).toEqual([]);
  expect(await readWords(path, 1)).toEqual([]);
}

describe("words of burnt-in subtitles are read in the pictures of the service", () => {
  beforeAll(async () => {
    rig = await openRig();
  });
  // Every host draws the same script, so one reads all formats.
  test.for([
    { encoder: "light", format: "srt", options: {} },
    { encoder: "light", format: "vtt", options: {} },
    { encoder: "light", format: "ass", options: {} },
    { encoder: "native", format: "ass", options: { codec: "h265" } },
  ] as const)("$encoder, $format", LIMIT, async ({ encoder, format, options }) => {
    const video = await byService(format, options);
    expect(video.encoder).toBe(encoder);
    await checkWords(video, format);
  });
});

test("words of burnt-in subtitles are read in the pictures of a page", LIMIT, async () => {
  page = await openClientLab();
  await page.serve(source, "dark.mp4");
  await openKit(page.lab.page, { name: "burn" });
  const video = await byPage("vtt");
  expect(video.encoder).toBe("wasm");
  await checkWords(video, "vtt");
});
