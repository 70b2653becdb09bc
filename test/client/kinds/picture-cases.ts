import { deepEqual, equal, ok } from "../../browser/assert.ts";
import type { KindCase } from "./kind-case.ts";
import { checkBlue, checkBluePicture } from "./pixel.ts";

/** Brings the blue quarter, and no other, into the picture: but for any one of the three, it would be another. */
export const TO_BLUE = {
  ...({ rotate: 90, flip: "horizontal" } as const),
  crop: { x: "50%", y: 0, width: "50%", height: "50%" },
} as const;

const DROPPED = [
  { kind: "audio", index: 1, language: "eng", reason: "asked" },
  { kind: "audio", index: 2, language: "deu", reason: "asked" },
  { kind: "chapters", reason: "asked" },
] as const;

const timesOf = (files: readonly { time?: number | undefined; mime: string }[] = []) =>
  files.map(({ time, mime }) => [time, mime]);

const latin1 = async (blob: Blob) => new TextDecoder("latin1").decode(await blob.arrayBuffer());

/** Stills, animations and storyboards. */
export const PICTURE_CASES: readonly KindCase[] = [
  {
    makes: "as many stills as are asked for, evenly spaced",
    kind: "image",
    options: { format: "jpeg", count: 4, width: 64 },
    source: { kind: "image", format: "jpeg", width: 64, height: 36, dropped: [...DROPPED] },
    async check({ source: { files = [], filesize }, blob }, client) {
      const at = [0, 0.5, 1, 1.5];
      deepEqual(timesOf(files), [...at.map((time) => [time, "image/jpeg"])]);
      equal(
        files.reduce((sum, file) => sum + file.filesize, 0),
        filesize,
      );
      equal(blob.size, files[0]?.filesize);
      const { format, width, height } = await client.probe(blob);
      deepEqual([format, width, height], ["jpeg", 64, 36]);
    },
  },
  {
    makes: "stills at an interval from a start, each turned",
    kind: "image",
    options: { format: "png", interval: 0.7, start: 0.3, rotate: 90, width: 45 },
    source: { kind: "image", format: "png", width: 45, height: 80 },
    async check({ source: { files }, blob }, client) {
      deepEqual(timesOf(files), [...[0.3, 1, 1.7].map((time) => [time, "image/png"])]);
      const { format, width, height } = await client.probe(blob);
      deepEqual([format, width, height], ["png", 45, 80]);
    },
  },
  {
    makes: "an image that is turned, then mirrored, then cropped",
    kind: "image",
    options: { format: "png", start: 1, ...TO_BLUE, width: 1, height: 1 },
    source: { kind: "image", format: "png", width: 1, height: 1, animated: false, dropped: [...DROPPED] },
    check: ({ blob }) => checkBlue(blob),
  },
  {
    makes: "an image of at most max_bytes, of the size asked for",
    kind: "image",
    options: { format: "jpeg", width: 120, max_bytes: 1000 },
    source: { kind: "image", format: "jpeg", width: 120, height: 68 },
    check: ({ blob }) => ok(blob.size <= 1000, `it has ${blob.size} bytes`),
  },
  {
    makes: "a GIF of a span, which plays as often and as fast as asked",
    kind: "animation",
    options: { format: "gif", ...TO_BLUE, height: 40, fps: 5, start: 0.5, end: 1.5, loop: 3 },
    source: {
      ...({
        kind: "image",
        format: "gif",
        animated: true,
        width: 23,
        height: 40,
        fps: 5,
        duration: 1,
      } as const),
      dropped: [...DROPPED],
    },
    async check({ source: { counts }, blob }, client) {
      equal(counts?.pictures?.output, 5);
      const text = await latin1(blob);
      ok(text.startsWith("GIF89a"), "it is no GIF");
      // A GIF is repeated twice after it has played.
      equal(loopOf(text, "NETSCAPE2.0", 13), 2);
      await checkBluePicture(blob, client);
    },
  },
  {
    makes: "a WebP animation of the largest square",
    kind: "animation",
    options: { format: "webp", crop: "1:1", width: 48, fps: 5, loop: 3, end: 1 },
    source: {
      ...({ kind: "image", format: "webp", animated: true, width: 48, height: 48, duration: 1 } as const),
      dropped: [...DROPPED],
    },
    async check({ blob }) {
      const text = await latin1(blob);
      ok(text.startsWith("RIFF"), "it is no WebP");
      equal(loopOf(text, "ANIM", 12), 3);
      equal(text.split("ANMF").length - 1, 5);
    },
  },
  {
    makes: "a storyboard with a cue for each tile",
    kind: "storyboard",
    options: { format: "jpeg", interval: 0.5, columns: 2, rows: 1, width: 64 },
    source: { kind: "image", format: "jpeg", mime: "text/vtt", width: 128, height: 36, duration: 2 },
    async check({ source: { files = [] }, blob }) {
      deepEqual(
        files.map(({ mime }) => mime),
        ["text/vtt", "application/json", "image/jpeg", "image/jpeg"],
      );
      equal(blob.size, files[0]?.filesize);
      deepEqual(cuesOf(await blob.text()), [
        ["00:00:00.000 --> 00:00:00.500", "sheet_0001.jpg#xywh=0,0,64,36"],
        ["00:00:00.500 --> 00:00:01.000", "sheet_0001.jpg#xywh=64,0,64,36"],
        ["00:00:01.000 --> 00:00:01.500", "sheet_0002.jpg#xywh=0,0,64,36"],
        ["00:00:01.500 --> 00:00:02.000", "sheet_0002.jpg#xywh=64,0,64,36"],
      ]);
    },
  },
  {
    makes: "a storyboard of a span on one sheet of WebP, whose last row is not full",
    kind: "storyboard",
    options: { format: "webp", interval: 0.4, columns: 3, rows: 2, width: "20%", start: 0.4 },
    source: { kind: "image", format: "webp", mime: "text/vtt", width: 96, height: 36, duration: 1.6 },
    async check({ source: { files = [] }, blob }) {
      equal(files.length, 3);
      deepEqual(cuesOf(await blob.text()).at(-1), [
        "00:00:01.200 --> 00:00:01.600",
        "sheet_0001.webp#xywh=0,18,32,18",
      ]);
    },
  },
];

// The whole number at an offset from a name.
function loopOf(text: string, name: string, offset: number): number {
  const at = text.indexOf(name) + offset;
  return text.charCodeAt(at) + 256 * text.charCodeAt(at + 1);
}

function cuesOf(vtt: string): string[][] {
  const [head, ...cues] = vtt.trim().split("\n\n");
  equal(head, "WEBVTT");
  return cues.map((cue) => cue.split("\n"));
}
