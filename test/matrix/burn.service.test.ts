import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { runNative } from "../judge/native.ts";
import { openRig, type Rig } from "../judge/rig.ts";

const FONTS = dirname(createRequire(import.meta.url).resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf"));

let rig: Rig;
let folder: string;
let source: string;
/** Pictures that ffmpeg's own reader of SubRip makes of the text, and of another. */
let expected: string;
let other: string;
beforeAll(async () => {
  rig = await openRig();
  folder = await mkdtemp(join(tmpdir(), "framewright-burn-"));
  source = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=2"],
    ...["-f", "lavfi", "-i", "sine=f=440:sample_rate=48000:duration=2"],
    ..."-c:v libx264 -preset veryfast -crf 4 -pix_fmt yuv420p -c:a aac".split(" "),
  ]);
  expected = await drawn("wanted", srt(TEXT));
  other = await drawn("other", srt("Grüße aus Köln,\nΚαλημέρα και Γεια!"));
});
afterAll(async () => {
  await rig?.close();
  await rm(folder, { recursive: true, force: true });
});

const LIMIT = { timeout: 240_000 };
const TEXT = 'Ein Öl für Åsa "und" sie,\nΓειά σου Привет!';
// Frames 13 to 24 show it.
const srt = (text: string) => `1\n00:00:00,520 --> 00:00:01,000\n${text}\n`;

// Sizes are of the 384x288 that ffmpeg assumes for SubRip.
async function drawn(name: string, text: string): Promise<string> {
  await writeFile(join(folder, `${name}.srt`), text);
  const path = join(folder, `${name}.mkv`);
  const style = "FontName=DejaVu Sans,FontSize=19.2,Outline=1.6,Shadow=0,MarginV=14.4";
  const filter = `subtitles=${folder}/${name}.srt:fontsdir=${FONTS}:force_style='${style}'`;
  await runNative(["-i", source, "-an", "-vf", filter, "-c:v", "ffv1", path]);
  return path;
}

const serve = (path: string, text: string) =>
  rig.origin.serve(path, { file: new TextEncoder().encode(text) });
const LETTERS = "crop=iw*3/5:ih/4:iw/5:ih*3/4";
const ABOVE = "crop=iw:ih*3/4:0:0";
const DURING = "between(n\\,13\\,24)";
const REST = "lt(n\\,13)+gt(n\\,24)";

/** Checks that the text, and no other, is in the pictures in its time alone, and nothing else changes. */
async function checkBurnt(path: string) {
  const compare = async (to: string, part: string, shown: string) => {
    const filter = `select=${shown},${part}`;
    return measureLikeness(path, to, { filter, output_filter: filter });
  };
  const bare = await compare(source, "null", REST);
  expect([bare.frames, bare.worst > 0.96]).toEqual([38, true]);
  expect((await compare(source, ABOVE, DURING)).worst).toBeGreaterThan(0.96);
  const same = await compare(expected, LETTERS, DURING);
  expect(same.frames).toBe(12);
  expect(same.worst).toBeGreaterThan(0.95);
  expect((await compare(other, LETTERS, DURING)).mean).toBeLessThan(0.8);
  expect((await compare(source, LETTERS, DURING)).mean).toBeLessThan(0.8);
}

test.for([
  { encoder: "light", options: {}, text: srt(TEXT) },
  { encoder: "native", options: { codec: "h265" }, text: `WEBVTT\n\n00:00.520 --> 00:01.000\n${TEXT}\n` },
] as const)("draws subtitles into a video: $encoder", LIMIT, async ({ encoder, options, text }) => {
  const subtitles = [
    { url: serve("/track.srt", srt("A track")), language: "en" },
    { url: serve("/burnt", text), language: "de", burn: true },
  ];
  const { path, task } = await rig.door.encode({
    ...{ input: rig.serve(source), kind: "video", options: { quality: "very_high", ...options, subtitles } },
  });
  const { output } = task.steps[2] ?? {};
  expect(output).toMatchObject({ encoder, counts: { pictures: { source: 50, output: 50 } } });
  const tracks = output?.streams?.map(({ kind, codec, language }) => [kind, codec, language]).slice(1);
  expect(tracks).toEqual([
    ["audio", "aac", undefined],
    ["subtitle", "mov_text", "eng"],
  ]);
  await checkBurnt(path);
});

test("draws them into a stream", LIMIT, async () => {
  const subtitles = [{ url: serve("/stream", srt(TEXT)), burn: true }];
  const options = { quality: "very_high", subtitles };
  const task = await rig.door.runTask({ input: rig.serve(source), kind: "adaptive_video", options });
  const [best] = task.steps[2]?.output?.renditions ?? [];
  await checkBurnt(best?.url ?? "");
  expect(await (await fetch(task.output ?? "")).text()).not.toContain("SUBTITLES");
});

test("draws them into joined videos, by the clock of the output", LIMIT, async () => {
  const at = serve("/joined", "1\n00:00:02,520 --> 00:00:03,000\n█████\n");
  const concat = [{ url: rig.serve(source) }];
  const options = { quality: "very_high", concat, subtitles: [{ url: at, burn: true }] };
  const { path } = await rig.door.encode({ input: rig.serve(source), kind: "video", options });
  const like = async (filter: string, second: string) =>
    measureLikeness(path, source, { filter, output_filter: `select=gte(n\\,50),${second}` });
  const [during, rest] = [`select=${DURING},${LETTERS}`, `select=${REST}`];
  expect((await like(during, during)).mean).toBeLessThan(0.9);
  const bare = await like(rest, rest);
  expect([bare.frames, bare.worst > 0.96]).toEqual([38, true]);
});

test.for([
  {
    name: "letters that all fonts lack",
    // Egyptian hieroglyphs.
    text: srt("\u{13080} and \u{130c0}"),
    kind: "input_unsupported",
    message: "have no letters for \u{13080} \u{130c0}",
  },
  {
    name: "a crowd",
    text: srt("x").repeat(40),
    kind: "input_too_large",
    message: "At most 32 texts and 4,000 letters",
  },
  {
    name: "too many letters",
    text: srt("x".repeat(5000)),
    kind: "input_too_large",
    message: "At most 32 texts",
  },
  { name: "no subtitles", text: "<tt/>", kind: "input_unsupported", message: "The file must be subtitles" },
] as const)("a task whose burnt-in text has $name says so", LIMIT, async ({ text, kind, message }) => {
  const subtitles = [{ url: serve("/good", srt("x")) }, { url: serve("/bad", text), burn: true }];
  const { status, error } = await rig.door.runTask({
    ...{ input: rig.serve(source), kind: "video", options: { subtitles } },
  });
  expect([status, error?.kind]).toEqual(["failed", kind]);
  expect(error?.message).toContain("options.subtitles.1.url: ");
  expect(error?.message).toContain(message);
});
