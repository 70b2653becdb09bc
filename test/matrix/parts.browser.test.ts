import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientLab, encodeInPage, openClientLab, openKit } from "../browser/client-rig.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { recallOriginal } from "../integrity/judge.ts";
import { type Container, numberedClip, PICTURE } from "../integrity/numbered.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { measureLoudness } from "../judge/loudness.ts";
import { runNative } from "../judge/native.ts";
import { parseMaster } from "../judge/playlists.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { readSound, recallSound } from "../judge/sound.ts";

const LIMIT = { timeout: 240_000 };
const FRAMES = 150;
const SMALL = { quality: "low", width: 160 } as const;

/** Overlapping parts out of order; two begin between pictures. */
const PARTS = [
  { start: 3.17, end: 5 },
  { start: 0.5, end: 1.3 },
  { start: 1, end: 2.02 },
];
const SECONDS = 3.65;

function clip(container: Container = "mp4"): Promise<string> {
  const codec = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -x264-params keyint=50:open-gop=1:bframes=3";
  return numberedClip({ container, frames: FRAMES, codec });
}

/** A clip with closed groups of pictures of half a second each. */
function groupedClip(): Promise<string> {
  const codec = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 12 -keyint_min 12 -sc_threshold 0 -bf 3";
  return numberedClip({ container: "mp4", frames: FRAMES, codec });
}

/** The parts as a copy cuts them: from a keyframe up to a place where every earlier picture is decoded before every later one. */
const COPIED = [
  { start: 2.88, end: 5 },
  { start: 0.48, end: 1.32 },
  { start: 0.96, end: 2.12 },
];

/** The parts as a smart cut makes them; most of their pictures are copied. */
const SMART_CUTS = [
  { ...PARTS[0], pictures: 46, copied: 41 },
  { ...PARTS[1], pictures: 21, copied: 9 },
  { ...PARTS[2], pictures: 26, copied: 13 },
];

interface Shown {
  number: number | null;
  time: number;
}

// Times on the clock of a container are rounded.
const NUDGE = 0.0006;

/** Returns the pictures of a file's parts; each part begins with the picture that is visible at its start. */
async function picturesOf(path: string, parts = PARTS): Promise<Shown[]> {
  const isSilent = path.endsWith(".gif");
  const { frames, start: origin } = isSilent
    ? { frames: await readFrames(path), start: 0 }
    : await recallOriginal(path);
  const own = frames.map(({ number, time }) => ({ number, time: time - origin }));
  let at = 0;
  return parts.flatMap(({ start, end }) => {
    const first = Math.max(
      0,
      own.findLastIndex(({ time }) => time < start + NUDGE),
    );
    const from = at;
    at += end - start;
    return own
      .slice(first)
      .flatMap(({ number, time }) =>
        time < end - NUDGE ? [{ number, time: from + Math.max(0, time - start) }] : [],
      );
  });
}

async function expectPictures(path: string, expected: readonly Shown[], tolerance = 0.0015): Promise<void> {
  const frames = await readFrames(path);
  const [first] = frames;
  expect(frames.map(({ number }) => number)).toEqual(expected.map(({ number }) => number));
  for (const [index, { time }] of frames.entries())
    expect(Math.abs(time - (first?.time ?? 0) - (expected[index]?.time ?? 0)), `${index}`).toBeLessThan(
      tolerance,
    );
}

/** Asserts that each part has whole pictures at a constant rate, and returns their number in all parts. */
async function expectEven(path: string, fps: number, parts = PARTS): Promise<number> {
  const expected = parts.flatMap(({ start, end }) =>
    Array.from(
      { length: Math.round((end - start) * fps) },
      (_, index) => (start + index / fps) * PICTURE.fps,
    ),
  );
  const frames = await readFrames(path);
  expect(frames).toHaveLength(expected.length);
  for (const [index, { number, time }] of frames.entries()) {
    expect(Math.abs((number ?? 0) - (expected[index] ?? 0)), `picture ${index}`).toBeLessThan(1.01);
    expect(Math.abs(time - (frames[0]?.time ?? 0) - index / fps)).toBeLessThan(0.0055);
  }
  return expected.length;
}

/** A GIF whose pictures last 0.1 s. */
async function gif(): Promise<string> {
  return makeClip("gif", ["-i", await clip(), "-r", "10", "-fps_mode", "cfr"]);
}

const RATE = 48_000;
const FADE = 0.006;

/** Asserts that lossless sound is that of the parts to the sample, except for fades at the joins. */
async function expectSamples(path: string, source: string, parts = PARTS): Promise<void> {
  const [output, original] = await Promise.all([
    readSound(path, { channels: 1 }),
    recallSound(source, { channels: 1 }),
  ]);
  const [samples = new Float32Array(), own = new Float32Array()] = [output.channels[0], original.channels[0]];
  const lengths = parts.map(({ start, end }) => Math.round((end - start) * RATE));
  expect(samples).toHaveLength(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const [index, { start }] of parts.entries()) {
    const length = lengths[index] ?? 0;
    const from = Math.round(start * RATE);
    let worst = 0;
    for (let place = FADE * RATE; place < length - FADE * RATE; place++)
      worst = Math.max(worst, Math.abs((samples[at + place] ?? 0) - (own[from + place] ?? 0)));
    expect(worst, `part ${index}`).toBeLessThan(0.001);
    if (index > 0)
      for (const edge of [at - 1, at])
        expect(Math.abs(samples[edge] ?? 1), `join ${index}`).toBeLessThan(0.01);
    at += length;
  }
}

/** Asserts that lossy sound is that of the parts: it has the chirp's tone at each moment. */
async function expectTones(path: string, parts = PARTS): Promise<void> {
  const { channels, duration } = await readSound(path, {
    channels: 1,
    after: ["-af", "aresample=async=1:first_pts=0"],
  });
  const [samples = new Float32Array()] = channels;
  let at = 0;
  for (const { start, end } of parts) {
    for (let time = 0.1; time < end - start - 0.1; time += 0.2) {
      const window = samples.subarray(
        Math.round((at + time - 0.05) * RATE),
        Math.round((at + time + 0.05) * RATE),
      );
      const source = (hertzOf(window) - 300) / 200;
      expect(Math.abs(source - start - time), `${start + time} s`).toBeLessThan(0.06);
    }
    at += end - start;
  }
  expect(Math.abs(duration - at)).toBeLessThan(0.06);
}

function hertzOf(samples: Float32Array): number {
  const rises = [...samples.keys()].filter((at) => (samples[at - 1] ?? 0) < 0 && (samples[at] ?? 0) >= 0);
  return ((rises.length - 1) * RATE) / ((rises.at(-1) ?? 0) - (rises[0] ?? 0));
}

/** A clip in Matroska whose sound begins 1.5 s after its pictures. */
async function lateSoundClip(): Promise<string> {
  const silent = await makeClip("mp4", ["-i", await clip(), "-an", "-c", "copy"]);
  const inputs = ["-i", silent, "-itsoffset", `${SOUND_START}`, "-i", await clip()];
  return makeClip("mkv", [...inputs, "-map", "0:v", "-map", "1:a", "-c", "copy"]);
}

const SOUND_START = 1.5;

/** Parts after, before and around the start of the late sound, then two that both precede it. */
const LATE_PARTS = [
  [
    { start: 3, end: 4 },
    { start: 0.2, end: 0.8 },
    { start: 1, end: 2 },
  ],
  [
    { start: 0.8, end: 1.2 },
    { start: 0.12, end: 0.52 },
  ],
];

/** Asserts that parts of the late clip have their pictures, and sound exactly where it has begun in the source. */
async function expectLateSound(path: string, parts: typeof PARTS): Promise<void> {
  await expectPictures(path, await picturesOf(await lateSoundClip(), parts));
  const { channels, duration } = await readSound(path, {
    channels: 1,
    after: ["-af", "aresample=async=1:first_pts=0"],
  });
  const [samples = new Float32Array()] = channels;
  let at = 0;
  for (const { start, end } of parts) {
    const own = samples.subarray(Math.round(at * RATE), Math.round((at + end - start) * RATE));
    // The last sample of a frame of AAC before the tone may already ring.
    const first = own.subarray(0.03 * RATE).findIndex((level) => Math.abs(level) > 0.03);
    const expected = Math.max(0.03, SOUND_START - start);
    if (expected > end - start) expect(first, `${start} s`).toBe(-1);
    else expect(Math.abs(first / RATE + 0.03 - expected), `${start} s`).toBeLessThan(0.03);
    at += end - start;
  }
  expect(Math.abs(duration - at)).toBeLessThan(0.06);
}

const COUNTS = { pictures: { source: 93, output: 93 } };

/** Parts that begin and end with a picture, as those of a stream with AV1 do. */
const EVEN_PARTS = [
  { start: 3.16, end: 5 },
  { start: 0.48, end: 1.28 },
  { start: 1, end: 2.04 },
];

/** Returns the times in the output at which the parts begin. */
function startsOf(parts: typeof PARTS): number[] {
  return parts.map((_, index) => {
    const earlier = parts.slice(0, index);
    return Number(earlier.reduce((sum, { start, end }) => sum + end - start, 0).toFixed(2));
  });
}

/**
 * Asserts that a stream, given as the path or URL of its master playlist, has the pictures and the sound of the parts, in sync, and that
 * each part begins with a keyframe.
 */
async function expectStream(master: string, parts = PARTS): Promise<void> {
  await expectPictures(master, await picturesOf(await clip(), parts));
  await expectTones(master, parts);
  const { log } = await runNative([
    ...["-skip_frame", "nokey", "-copyts", "-i", master, "-map", "0:v:0"],
    ...["-vf", "showinfo=checksum=0", "-fps_mode", "passthrough", "-f", "null", "-"],
  ]);
  const keys = [...log.matchAll(/ pts_time:(\S+)/g)].map(([, time]) => Number(time));
  const starts = keys.map((time) => Number((time - (keys[0] ?? 0)).toFixed(2)));
  expect(starts).toEqual(startsOf(parts));
}

describe("by a service", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig?.close());

  const encode = async (kind: "video" | "audio" | "animation", options: object, input = clip()) => {
    const { path, task } = await rig.door.encode({
      input: rig.serve(await input),
      kind,
      options: { ...options },
    });
    return { path, output: task.steps[2]?.output };
  };

  test.for([
    { encoder: "light", options: {} },
    { encoder: "native", options: { codec: "h265" } },
    { encoder: "light", options: { format: "webm" } },
  ])("a video has every picture of its parts in their order ($encoder, $options)", LIMIT, async (row) => {
    const { path, output } = await encode("video", { ...SMALL, ...row.options, parts: PARTS });
    expect(output).toMatchObject({ encoder: row.encoder, counts: COUNTS });
    await expectPictures(path, await picturesOf(await clip()));
    await expectTones(path);
    expect(Math.abs((output?.duration ?? 0) - SECONDS)).toBeLessThan(0.05);
  });

  test.for([{ format: "wav" }, { format: "flac", volume: 1 }])(
    "sound is exact ($format)",
    LIMIT,
    async (options) => {
      const { path } = await encode("audio", { ...options, parts: PARTS });
      await expectSamples(path, await clip());
    },
  );

  test.for(["mkv", "ts", "mov"] as const)(
    "pictures and sound are those of the parts of a file in %s",
    LIMIT,
    async (container) => {
      const video = await encode("video", { ...SMALL, parts: PARTS }, clip(container));
      const expected = await picturesOf(await clip(container));
      const pictures = { source: expected.length, output: expected.length };
      expect(video.output).toMatchObject({ counts: { pictures } });
      await expectPictures(video.path, expected);
      await expectTones(video.path);
    },
  );

  test.for([
    { encoder: "light", options: {}, parts: PARTS, pictures: 93, seconds: SECONDS },
    {
      encoder: "native",
      options: { codecs: ["h264", "h265"] },
      parts: PARTS,
      pictures: 93,
      seconds: SECONDS,
    },
    {
      encoder: "native",
      options: { codecs: ["h264", "av1"] },
      parts: EVEN_PARTS,
      pictures: 92,
      seconds: 3.68,
    },
  ])("a stream has the pictures and the sound of its parts ($encoder, $options)", LIMIT, async (row) => {
    const { parts, pictures, seconds } = row;
    const input = rig.serve(await clip());
    const options = { format: "hls_dash", quality: "low", parts, ...row.options };
    const task = await rig.door.runTask({ input, kind: "adaptive_video", options });
    const { encoder, counts, duration } = task.steps.at(-1)?.output ?? {};
    expect(task.error ?? { encoder, counts, duration }).toMatchObject({
      encoder: row.encoder,
      counts: { pictures: { source: pictures, output: pictures } },
      duration: expect.closeTo(seconds, 1),
    });
    const master = task.output ?? "";
    await expectStream(master, parts);
    const shown = await picturesOf(await clip(), parts);
    const { variants } = parseMaster(await (await fetch(master)).text(), master);
    for (const { url } of variants) await expectPictures(url, shown);
  });

  test("sound after a gap shorter than 0.1 s keeps its time", LIMIT, async () => {
    const burst = "aevalsrc='if(between(t,3,3.1),sin(6283*t),0.001*sin(1885*t))':s=48000:d=4";
    const input = makeClip("mp4", [
      ...["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=4", "-f", "lavfi", "-i", burst],
      ...["-af", "aselect=not(between(t\\,2\\,2.06))"],
      ..."-c:v libx264 -preset ultrafast -c:a aac".split(" "),
      ...["-movflags", "+frag_keyframe+empty_moov+default_base_moof"],
    ]);
    const burstAt = async (path: string) => {
      const { channels, sample_rate } = await readSound(path, { channels: 1 });
      return (channels[0]?.findIndex((level) => Math.abs(level) > 0.2) ?? -1) / sample_rate;
    };
    const start = await burstAt(
      await makeClip("wav", ["-i", await input, "-af", "aresample=async=1:min_hard_comp=0.01"]),
    );
    const parts = [
      { start: 1, end: 4 },
      { start: 0.2, end: 0.5 },
    ];
    for (const options of [{}, { codec: "h265" }]) {
      const { path } = await encode("video", { ...options, parts }, input);
      expect(Math.abs((await burstAt(path)) - (start - 1)), JSON.stringify(options)).toBeLessThan(0.01);
    }
  });

  test("parts before the start of a late sound are silent", LIMIT, async () => {
    for (const parts of LATE_PARTS) {
      for (const options of [{}, { codec: "h265" }]) {
        const { path } = await encode("video", { ...options, parts }, lateSoundClip());
        await expectLateSound(path, parts);
      }
      const input = rig.serve(await lateSoundClip());
      const options = { quality: "low", parts };
      const task = await rig.door.runTask({ input, kind: "adaptive_video", options });
      expect(task.error).toBeNull();
      await expectLateSound(task.output ?? "", parts);
    }
  });

  test("copied parts have the pictures and the sound of the spans that cuts lists", LIMIT, async () => {
    const { path, output } = await encode("video", { mode: "copy", parts: PARTS }, groupedClip());
    expect(output).toMatchObject({ encoder: "copy", cuts: COPIED });
    await expectPictures(path, await picturesOf(await groupedClip(), COPIED));
    await expectTones(path, COPIED);
  });

  test("a smart cut has every picture of its parts, and encodes few of them", LIMIT, async () => {
    const { path, output } = await encode("video", { mode: "smart", parts: PARTS }, groupedClip());
    const expected = await picturesOf(await groupedClip());
    const reason = "Copied, except for the pictures around the cuts.";
    expect(output).toMatchObject({ encoder: "light", reason, cuts: SMART_CUTS });
    await expectPictures(path, expected);
    await expectTones(path);
  });

  test("a native encoder encodes the pieces of a smart cut that the light one cannot", LIMIT, async () => {
    const codec = "-s 1920x1152 -c:v libx264 -preset ultrafast -g 12 -keyint_min 12 -sc_threshold 0 -bf 2";
    const large = numberedClip({ container: "mp4", frames: 60, codec });
    const parts = [
      { start: 1.3, end: 2.3 },
      { start: 0.3, end: 1.11 },
    ];
    const { path, output } = await encode("video", { mode: "smart", parts }, large);
    const reason = "Copied, except for the pictures around the cuts.";
    expect(output).toMatchObject({ encoder: "native", reason });
    expect(output?.cuts?.every(({ copied }) => copied > 10)).toBe(true);
    await expectPictures(path, await picturesOf(await large, parts));
    await expectTones(path, parts);
  });

  test("each part of a truncated file begins with the picture visible at its start", LIMIT, async () => {
    const path = await clip();
    const front = ["-i", path, "-map", "0", "-c", "copy", "-movflags", "+faststart"];
    const bytes = await readFile(await makeClip("mp4", front));
    const cut = join(await mkdtemp(join(tmpdir(), "cut-")), "cut.mp4");
    await writeFile(cut, bytes.subarray(0, Math.floor(bytes.length * 0.7)));
    const parts = [
      { start: 1.17, end: 2 },
      { start: 0.39, end: 1 },
    ];
    const options = { ...SMALL, partial: true, parts };
    const { path: output } = await encode("video", options, Promise.resolve(cut));
    await rm(dirname(cut), { recursive: true });
    await expectPictures(output, await picturesOf(path, parts));
  });

  test("joined sound is normalized as a whole, and faster with its pictures", LIMIT, async () => {
    const options = { ...SMALL, parts: PARTS, speed: 2, normalize: true, target_lufs: -20 };
    const { path, output } = await encode("video", options);
    expect(Math.abs((await measureLoudness(path)).integrated + 20)).toBeLessThan(0.6);
    expect(Math.abs((output?.duration ?? 0) - SECONDS / 2)).toBeLessThan(0.06);
    const numbers = (await readFrames(path)).map(({ number }) => number ?? -1);
    const falls = numbers.filter((number, index) => number < (numbers[index - 1] ?? 0));
    expect(falls).toHaveLength(2);
    expect(numbers).toHaveLength(output?.counts?.pictures?.output ?? 0);
  });

  test("at a constant rate each part has whole pictures", LIMIT, async () => {
    const { path, output } = await encode("video", { ...SMALL, fps: 12.5, parts: PARTS });
    expect(await expectEven(path, 12.5)).toBe(output?.counts?.pictures?.output);
  });

  test.for([
    { encoder: "light", options: { format: "gif" } },
    { encoder: "native", options: { format: "avif" } },
  ])("an animation in $options.format has the pictures of its parts", LIMIT, async (row) => {
    const options = { width: 160, fps: 12.5, ...row.options, parts: PARTS };
    const { path, output } = await encode("animation", options);
    const pictures = { output: await expectEven(path, 12.5) };
    expect(output).toMatchObject({ encoder: row.encoder, counts: { pictures } });
  });

  test("the parts of an animated picture keep its timing", LIMIT, async () => {
    const parts = [...PARTS, { start: 0, end: 0.15 }];
    const options = { format: "gif", parts };
    const { path, output } = await encode("animation", options, gif());
    const expected = await picturesOf(await gif(), parts);
    const pictures = { source: expected.length, output: expected.length };
    expect(output).toMatchObject({ encoder: "light", counts: { pictures } });
    await expectPictures(path, expected, 0.0055);
  });

  test("a part after the end of the sound is silent, and the next one is heard", LIMIT, async () => {
    const codec = "-c:v libx264 -preset veryfast -pix_fmt yuv420p";
    const short = numberedClip({ container: "mp4", frames: FRAMES, codec, heard: 75 });
    const parts = [
      { start: 4, end: 5 },
      { start: 1, end: 2 },
    ];
    const { path } = await encode("video", { ...SMALL, parts }, short);
    const { channels } = await readSound(path, { channels: 1 });
    const [samples = new Float32Array()] = channels;
    const loudest = (from: number, to: number) =>
      samples.subarray(from * RATE, to * RATE).reduce((most, each) => Math.max(most, Math.abs(each)), 0);
    expect(loudest(0.1, 0.9)).toBeLessThan(0.01);
    expect(loudest(1.1, 1.9)).toBeGreaterThan(0.05);
  });

  test("hundreds of parts, forward and back", LIMIT, async () => {
    const forward = Array.from({ length: 100 }, (_, index) => ({
      start: index * 0.05,
      end: index * 0.05 + 0.03,
    }));
    const back = Array.from({ length: 100 }, (_, index) => ({
      start: 5.5 - index * 0.05,
      end: 5.6 - index * 0.05,
    }));
    for (const parts of [forward, back]) {
      const { path } = await encode("audio", { format: "wav", parts });
      await expectSamples(path, await clip(), parts);
    }
  });
});

describe("by a page", () => {
  let page: ClientLab;
  beforeAll(async () => {
    page = await openClientLab();
  });
  afterAll(() => page?.close());

  test("copied parts have the pictures and the sound of their spans", LIMIT, async () => {
    await openKit(page.lab.page, { name: "copy", prefer: "speed" });
    const path = join(page.folder, "copied.mp4");
    const input = await groupedClip();
    const options = { mode: "copy", parts: PARTS };
    expect(await encodeInPage(page, { input, kind: "video", options }, path)).toBe("copy");
    await expectPictures(path, await picturesOf(input, COPIED));
    await expectTones(path, COPIED);
  });

  test("parts before the start of a late sound are silent", LIMIT, async () => {
    for (const [index, parts] of LATE_PARTS.entries())
      for (const prefer of ["speed", "quality"] as const) {
        await openKit(page.lab.page, { name: `late-${prefer}-${index}`, prefer });
        const path = join(page.folder, `late-${prefer}-${index}.mp4`);
        const options = { ...SMALL, parts };
        await encodeInPage(page, { input: await lateSoundClip(), kind: "video", options }, path);
        await expectLateSound(path, parts);
      }
  });

  test("a smart cut has the pictures and the sound of its parts", LIMIT, async () => {
    await openKit(page.lab.page, { name: "smart", prefer: "speed" });
    const path = join(page.folder, "smart.mp4");
    const input = await groupedClip();
    const options = { mode: "smart", parts: PARTS };
    expect(await encodeInPage(page, { input, kind: "video", options }, path)).toBe("fast");
    await expectPictures(path, await picturesOf(input));
    await expectTones(path);
  });

  test.for([
    { encoder: "webcodecs", settings: { prefer: "speed" }, options: {} },
    { encoder: "fast", settings: { prefer: "quality" }, options: {} },
    // The fast core cannot denoise.
    { encoder: "wasm", settings: { prefer: "quality" }, options: { denoise: "light" } },
  ] as const)(
    "a video has every picture of its parts ($encoder)",
    LIMIT,
    async ({ encoder, settings, ...row }) => {
      await openKit(page.lab.page, { name: encoder, ...settings });
      const path = join(page.folder, `${encoder}.mp4`);
      const options = { ...SMALL, ...row.options, parts: PARTS };
      expect(await encodeInPage(page, { input: await clip(), kind: "video", options }, path)).toBe(encoder);
      await expectPictures(path, await picturesOf(await clip()));
      await expectTones(path);
    },
  );

  test.for([
    { encoder: "webcodecs", prefer: "speed" },
    { encoder: "fast", prefer: "quality" },
  ] as const)("a stream has the pictures and the sound of its parts ($encoder)", LIMIT, async (row) => {
    const { encoder, prefer } = row;
    await openKit(page.lab.page, { name: `stream-${encoder}`, prefer });
    const path = await page.serve(await clip());
    const result = await page.lab.page.evaluate(
      async ([file, parts]) => {
        const settings = { format: "hls_dash", quality: "low" } as const;
        const options = { ...settings, parts: [...parts] };
        const task = await kit.client.tasks.create({
          ...{ input: await kit.file(file), kind: "adaptive_video", options },
        });
        const { source, files } = await kit.client.output(await kit.client.tasks.wait(task));
        const bytes = files.map(async (each) => ({ name: each.name, base64: await kit.base64(each.file) }));
        return { encoder: source.encoder, counts: source.counts, files: await Promise.all(bytes) };
      },
      [path, PARTS] as const,
    );
    expect(result).toMatchObject({ encoder, counts: COUNTS });
    const folder = join(page.folder, `stream-${encoder}`);
    for (const { name, base64 } of result.files) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), Buffer.from(base64, "base64"));
    }
    await expectStream(join(folder, "master.m3u8"));
  });

  test("an animation has the pictures of its parts", LIMIT, async () => {
    await openKit(page.lab.page, { name: "animation" });
    const path = join(page.folder, "parts.gif");
    const options = { format: "gif", width: 160, fps: 12.5, parts: PARTS } as const;
    expect(await encodeInPage(page, { input: await clip(), kind: "animation", options }, path)).toBe("wasm");
    await expectEven(path, 12.5);
  });
});
