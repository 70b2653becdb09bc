import { rm, writeFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { NATIVE_TOOLS, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { keepClip, runFfmpeg } from "../fixtures/make-clip.ts";
import { recallOriginal } from "../integrity/judge.ts";
import { type Container, numberedClip } from "../integrity/numbered.ts";
import { type Frame, readFrames } from "../integrity/read-frames.ts";
import { readContainer } from "../judge/container.ts";
import { readCues } from "../judge/cues.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { runNative } from "../judge/native.ts";
import { readSound } from "../judge/sound.ts";
import { forgetOutputs, runHere } from "./one-process.ts";

afterAll(forgetOutputs);

const LIMIT = { timeout: 120_000 };
// Times on the clock of a container are rounded.
const NUDGE = 0.0006;
const GROUPS = "-g 12 -keyint_min 12 -sc_threshold 0 -bf 3";
const H264 = `-c:v libx264 -preset veryfast -crf 20 -pix_fmt yuv420p ${GROUPS}`;
const VP9 = "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 400k -pix_fmt yuv420p -g 12";
const H265 =
  "-c:v libx265 -preset ultrafast -x265-params keyint=12:min-keyint=12:scenecut=0:open-gop=0:log-level=error";

/** Parts that overlap and jump back. */
const PARTS = [
  { start: 3.17, end: 4.03 },
  { start: 0, end: 0.8 },
  { start: 1, end: 2.02 },
];

const H264_DEEP = H264.replace("yuv420p", "yuv420p10le");
const DEEP = H265.replace("-preset", "-pix_fmt yuv420p10le -preset");
const OPEN = H265.replace("open-gop=0", "open-gop=1:bframes=3");
const HLG = DEEP.replace(
  "-preset",
  "-color_primaries bt2020 -color_trc arib-std-b67 -colorspace bt2020nc -preset",
);
const AV1 = "-c:v libsvtav1 -preset 12 -crf 40 -pix_fmt yuv420p -g 12 -svtav1-params lookahead=0";

const CODECS = {
  h264: H264,
  h264_10_bits: H264_DEEP,
  h265: H265,
  h265_10_bits: DEEP,
  h265_hlg: HLG,
  h265_open: OPEN,
  vp9: VP9,
  av1: AV1,
} as const;

const clip = (container: Container, codec = H264) => numberedClip({ container, frames: 120, codec });

/** Returns the checksums of a track's packets in the order of decoding. */
async function packetsOf(path: string, track: "v" | "a"): Promise<string[]> {
  const args = ["-i", path, "-map", `0:${track}:0`, "-c", "copy", "-copyts", "-f", "framemd5", "-"];
  const { output } = await runNative(args);
  const lines = output.toString().split("\n");
  return lines.flatMap((line) => (/^\d/.test(line) ? [line.split(",")[5]?.trim() ?? ""] : []));
}

/** Returns the pictures that a viewer sees in ranges of a numbered clip: their numbers, and their times in the output. */
function shownIn(own: readonly Frame[], origin: number, ranges: readonly { start: number; end: number }[]) {
  let at = 0;
  return ranges.flatMap(({ start, end }) => {
    const from = at;
    at += end - start;
    const times = own.map(({ number, time }) => ({ number, time: time - origin }));
    const first = Math.max(
      0,
      times.findLastIndex(({ time }) => time < start + NUDGE),
    );
    return times
      .slice(first)
      .flatMap(({ number, time }) =>
        time < end - NUDGE ? [{ number, time: from + Math.max(0, time - start) }] : [],
      );
  });
}

/** Asserts that an output has the pictures of ranges of a numbered clip, each at its time; returns their number. */
async function expectPictures(
  path: string,
  source: string,
  ranges: readonly { start: number; end: number }[],
): Promise<readonly number[]> {
  const { frames: own, start } = await recallOriginal(source);
  const expected = shownIn(own, start, ranges);
  const frames = await readFrames(path);
  expect(frames.map(({ number }) => number)).toEqual(expected.map(({ number }) => number));
  const offset = (frames[0]?.time ?? 0) - (expected[0]?.time ?? 0);
  for (const [index, { time }] of frames.entries())
    expect(Math.abs(time - offset - (expected[index]?.time ?? 0)), `${index}`).toBeLessThan(0.0015);
  return expected.map(({ number }) => number ?? 0);
}

test.for([
  { container: "mp4", codec: "h264", format: "mp4" },
  { container: "mov", codec: "h264", format: "mov" },
  { container: "mkv", codec: "h264", format: "mp4" },
  { container: "ts", codec: "h264", format: "mp4" },
  { container: "mp4", codec: "h265", format: "mp4" },
  { container: "webm", codec: "vp9", format: "webm" },
] as const)(
  "parts of $codec in $container are copied into $format",
  LIMIT,
  async ({ container, codec, format }) => {
    const source = await clip(container, CODECS[codec]);
    const options = { mode: "copy", parts: PARTS, ...(format === "mov" && { format }) };
    const { path, output, jobs } = await runHere(source, { kind: "video", options });
    expect(jobs).toBe(0);
    expect(output).toMatchObject({ encoder: "copy", reason: "Copied without re-encoding." });
    expect(await readContainer(path)).toBe(format);
    const { cuts = [], counts } = output;
    const { length } = await expectPictures(path, source, cuts);
    expect(counts?.pictures).toEqual({ source: length, output: length });
    expect(cuts).toHaveLength(PARTS.length);
    for (const [index, { start, end, sound = 0 }] of cuts.entries()) {
      const part = PARTS[index] ?? { start: 0, end: 0 };
      expect(start).toBeLessThanOrEqual(part.start);
      expect(part.start - start).toBeLessThan(0.5);
      expect(end).toBeGreaterThanOrEqual(part.end - 0.001);
      expect(end - part.end).toBeLessThan(0.2);
      expect(Math.abs(sound - end + start)).toBeLessThan(0.024);
    }
    if (container === "ts") return;
    for (const track of ["v", "a"] as const) {
      const all = new Set(await packetsOf(source, track));
      expect((await packetsOf(path, track)).filter((packet) => !all.has(packet))).toEqual([]);
    }
  },
);

test.for([
  { container: "mp4", codec: "h264", format: "mp4", parts: PARTS },
  { container: "mov", codec: "h264", format: "mov", parts: PARTS },
  { container: "mkv", codec: "h264", format: "mp4", parts: PARTS },
  { container: "ts", codec: "h264", format: "mp4", parts: PARTS },
  { container: "webm", codec: "vp9", format: "webm", parts: PARTS },
  { container: "mp4", codec: "h264", format: "mp4", parts: [{ start: 0.7, end: 4.1 }] },
  {
    container: "mp4",
    codec: "h264",
    format: "mp4",
    parts: [
      { start: 0.7, end: 2 },
      { start: 2, end: 4.1 },
    ],
  },
  { container: "mkv", codec: "h264", format: "mp4", parts: [{ start: 1.22, end: 4.8 }] },
  { container: "mp4", codec: "h264_10_bits", format: "mp4", parts: [{ start: 0.7, end: 4.1 }] },
  { container: "ts", codec: "h264_10_bits", format: "mp4", parts: PARTS },
  { container: "mp4", codec: "h265", format: "mp4", parts: PARTS },
  { container: "mov", codec: "h265_hlg", format: "mov", parts: PARTS },
  { container: "mkv", codec: "h265_10_bits", format: "mp4", parts: [{ start: 0.7, end: 4.1 }] },
  { container: "mkv", codec: "h265_open", format: "mp4", parts: [{ start: 0.7, end: 4.1 }] },
  { container: "ts", codec: "h265", format: "mp4", parts: PARTS },
  { container: "mp4", codec: "av1", format: "mp4", parts: [{ start: 0.7, end: 4.1 }] },
  { container: "webm", codec: "av1", format: "webm", parts: PARTS },
] as const)(
  "a smart cut of $codec in $container has exactly the requested pictures (parts: $parts.length)",
  LIMIT,
  async ({ container, codec, format, parts }) => {
    const source = await clip(container, CODECS[codec]);
    const options = { mode: "smart", format, ...(parts.length > 1 ? { parts } : parts[0]) };
    const tools = /^(h265|av1|h264_10)/.test(codec) ? NATIVE_TOOLS : WASM_TOOLS;
    const { path, output } = await runHere(source, { kind: "video", options }, tools);
    expect(output.fallback).toBeUndefined();
    expect(output.reason).toBe("Copied, except for the pictures around the cuts.");
    const expected = await expectPictures(path, source, parts);
    expect(output.counts?.pictures).toEqual({ source: expected.length, output: expected.length });
    const seconds = parts.reduce((sum, { start, end }) => sum + end - start, 0);
    expect(Math.abs((output.duration ?? 0) - seconds)).toBeLessThan(0.05);
    if (parts.length === 1) {
      const trim = `trim=start_frame=${expected[0]}:end_frame=${(expected.at(-1) ?? 0) + 1}`;
      expect((await measureLikeness(path, source, { filter: trim })).worst).toBeGreaterThan(0.97);
    }
    const copied = (output.cuts ?? []).reduce((sum, cut) => sum + cut.copied, 0);
    expect(copied).toBeGreaterThan(expected.length / 4);
    if (container === "ts") return;
    const all = await packetsOf(source, "v");
    // Packets of AV1 that show an earlier picture may be identical.
    const own = new Set(all.filter((packet) => all.indexOf(packet) === all.lastIndexOf(packet)));
    const packets = await packetsOf(path, "v");
    const same = packets.filter((packet) => own.has(packet)).length;
    // The first packet of a copied open group gets another type.
    const changed = codec === "h265_open" ? 1 : 0;
    if (codec !== "av1") expect(same).toBe(copied - changed);
    else expect(same).toBeGreaterThan(copied / 2);
  },
);

/** Ten short parts, so that a decoder crosses at least ten joints from copied to encoded packets and back. */
const MANY = Array.from({ length: 10 }, (_, index) => ({
  start: (9 - index) * 0.42 + 0.1,
  end: (9 - index) * 0.42 + 0.9,
}));

test.for([
  { codec: "h264_10_bits", container: "mp4" },
  { codec: "h265", container: "mp4" },
  { codec: "h265_open", container: "mkv" },
  { codec: "av1", container: "mp4" },
] as const)("ffmpeg decodes ten parts of $codec without an error", LIMIT, async ({ codec, container }) => {
  const source = await clip(container, CODECS[codec]);
  const options = { mode: "smart", format: "mp4", parts: MANY };
  const { path, output } = await runHere(source, { kind: "video", options }, NATIVE_TOOLS);
  expect(output.cuts?.every(({ copied }) => copied > 5)).toBe(true);
  await expectPictures(path, source, MANY);
  const { log } = await runNative(["-v", "error", "-i", path, "-vf", "scale=16:16", "-f", "rawvideo", "-"]);
  expect(log).toBe("");
});

test("a smart cut encodes the whole video if no encoder can continue its pictures", LIMIT, async () => {
  const source = await clip("mp4", H265);
  const options = { mode: "smart", start: 0.7, end: 4.1 };
  const { path, output } = await runHere(source, { kind: "video", options });
  expect(output).toMatchObject({
    codecs: { video: "h264" },
    fallback: {
      code: "no_encoder",
      reason: "Nothing could be copied: no encoder here can continue its pictures.",
    },
  });
  await expectPictures(path, source, [{ start: 0.7, end: 4.1 }]);
});

test("a smart cut at keyframes has its pictures although its sound is encoded", LIMIT, async () => {
  const source = await numberedClip({ container: "mov", frames: 120, codec: H264, sound: "pcm_s16le" });
  const parts = [
    { start: 0.96, end: 1.92 },
    { start: 2.88, end: 3.84 },
  ];
  const options = { mode: "smart", format: "mp4", parts };
  const { path, jobs } = await runHere(source, { kind: "video", options });
  expect(jobs).toBe(1);
  await expectPictures(path, source, parts);
});

test(
  "parts of a clip whose edit list begins within picture 17 are encoded at their exact times",
  LIMIT,
  async () => {
    const whole = await clip("mp4");
    const cut = ["-ss", "0.7", "-i", whole, "-c", "copy"];
    const source = await keepClip("mp4", `cut ${whole}`, (path) => runFfmpeg([...cut, path]));
    const options = { mode: "smart", parts: PARTS };
    const { path, output } = await runHere(source, { kind: "video", options }, NATIVE_TOOLS);
    expect(output.fallback?.code).toBe("hidden");
    const later = PARTS.map(({ start, end }) => ({ start: start + 0.7, end: end + 0.7 }));
    await expectPictures(path, whole, later);
  },
);

/** A rotated film with sound, chapters and a text track. */
async function richClip(): Promise<string> {
  const bare = await clip("mp4");
  return keepClip("mp4", `rich ${bare}`, async (path) => {
    const [chapters, text] = [`${path}.txt`, `${path}.srt`];
    const chapter = (start: number, end: number, title: string) =>
      `[CHAPTER]\nTIMEBASE=1/1000\nSTART=${start}\nEND=${end}\ntitle=${title}\n`;
    await writeFile(chapters, `;FFMETADATA1\n${chapter(0, 1000, "One")}${chapter(1000, 4800, "Two")}`);
    await writeFile(
      text,
      "1\n00:00:00,600 --> 00:00:00,800\nearly\n\n2\n00:00:03,000 --> 00:00:03,600\nlate\n",
    );
    const inputs = ["-i", bare, "-i", chapters, "-i", text];
    const maps = ["-map", "0:v", "-map", "0:a", "-map", "2:s", "-map_chapters", "1", "-c", "copy"];
    await runFfmpeg([...inputs, ...maps, "-c:s", "mov_text", "-metadata:s:v", "rotate=90", path]);
    await Promise.all([chapters, text].map((file) => rm(file)));
  });
}

test(
  "a smart cut of a rotated film keeps its rotation and its pictures as they are stored",
  LIMIT,
  async () => {
    const source = await richClip();
    const { path, output } = await runHere(source, {
      kind: "video",
      options: { mode: "smart", start: 0.3, end: 2.1 },
    });
    expect(output).toMatchObject({ rotation: 270, cuts: [{ start: 0.3, end: 2.1, pictures: 46 }] });
    const likeness = await measureLikeness(path, source, { filter: "trim=start_frame=7:end_frame=53" });
    expect(likeness.worst).toBeGreaterThan(0.97);
  },
);

test(
  "a smart cut in which no group begins is encoded completely, and its fallback says why",
  LIMIT,
  async () => {
    const options = { mode: "smart", start: 0.6, end: 0.9 };
    const { output } = await runHere(await clip("mp4"), { kind: "video", options });
    expect(output).toMatchObject({
      counts: { pictures: { source: 8, output: 8 } },
      fallback: {
        code: "short",
        reason: "Nothing could be copied: no group of pictures that can be copied begins within the parts.",
      },
    });
    expect(output.cuts).toBeUndefined();
  },
);

test("copied parts keep the rotation, and chapters and text tracks follow them", LIMIT, async () => {
  const source = await richClip();
  const parts = [
    { start: 2.88, end: 3.84 },
    { start: 0.48, end: 1.44 },
  ];
  const { path, output } = await runHere(source, { kind: "video", options: { mode: "copy", parts } });
  expect(output).toMatchObject({
    rotation: 270,
    cuts: [
      { start: 2.88, end: 3.84, pictures: 24 },
      { start: 0.48, end: 1.44, pictures: 24 },
    ],
    chapters: [
      { start: 0, end: 0.96, title: "Two" },
      { start: 0.96, end: 1.48, title: "One" },
      { start: 1.48, title: "Two" },
    ],
  });
  expect(await readCues(path, 0)).toEqual(["0.120 0.720 late", "1.080 1.280 early"]);
});

test("a transport stream is cut exactly when its clock soon wraps", LIMIT, async () => {
  const bare = await clip("ts");
  const source = await keepClip("ts", `late ${bare}`, (path) =>
    runFfmpeg(["-i", bare, "-c", "copy", "-output_ts_offset", "95435", path]),
  );
  const { path, output } = await runHere(source, { kind: "video", options: { mode: "smart", parts: PARTS } });
  expect(output.fallback).toBeUndefined();
  await expectPictures(path, source, PARTS);
});

test("parts are not copied when the parameter sets of a transport stream change midway", LIMIT, async () => {
  const halves = await Promise.all([clip("ts"), clip("ts", H264.replace("-bf 3", "-bf 1 -coder 0"))]);
  const source = await keepClip("ts", `changed ${halves}`, (path) =>
    runFfmpeg(["-i", `concat:${halves.join("|")}`, "-c", "copy", path]),
  );
  const parts = [
    { start: 6, end: 7 },
    { start: 1, end: 2 },
  ];
  const copied = runHere(source, { kind: "video", options: { mode: "copy", parts } });
  await expect(copied).rejects.toThrow("its parameter sets change midway");
  const { path, output } = await runHere(source, { kind: "video", options: { mode: "smart", parts } });
  expect(output.fallback?.code).toBe("changed_sets");
  await expectPictures(path, source, parts);
});

test("copied sound is silent from its end in one part to the start of the next", LIMIT, async () => {
  const source = await numberedClip({ container: "mp4", frames: 120, codec: H264, heard: 50 });
  const parts = [
    { start: 1.5, end: 3.5 },
    { start: 1, end: 2 },
  ];
  const { path } = await runHere(source, { kind: "video", options: { mode: "smart", parts } });
  const { channels } = await readSound(path, {
    channels: 1,
    after: ["-af", "aresample=async=1:first_pts=0"],
  });
  const [samples = new Float32Array()] = channels;
  const loudest = (from: number, to: number) =>
    samples.subarray(from * 48_000, to * 48_000).reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  expect(loudest(0.6, 1.95)).toBeLessThan(0.01);
  expect(loudest(2.05, 2.9)).toBeGreaterThan(0.1);
});

test("parts of a source with open groups cannot be copied", LIMIT, async () => {
  const open = `${H264.replace(` ${GROUPS}`, "")} -x264-params keyint=12:min-keyint=12:scenecut=0:open-gop=1:bframes=3`;
  const run = runHere(await clip("mkv", open), { kind: "video", options: { mode: "copy", parts: PARTS } });
  await expect(run).rejects.toThrow(
    'options.mode cannot be \\"copy\\": part 0 has no keyframe near its start',
  );
});
