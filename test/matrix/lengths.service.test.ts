import { stat } from "node:fs/promises";
import { extname } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import {
  avi,
  copiedPart,
  editedMovie,
  editedSound,
  faststart,
  film,
  filmWithAc3,
  fragmented,
  joined,
  lateMatroska,
  programStream,
  sound,
  stream,
  truehd,
  truehdFilm,
  unknownDurations,
  unknownLongDurations,
  vorbis,
} from "../judge/odd-lengths.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { readSound } from "../judge/sound.ts";
import { brokenJoints, cutOff, flacOfSampleNumbers } from "../judge/wrong-headers.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const CUT = [
  { from: 0, seconds: 1.5 },
  { from: 3.5, seconds: 2.5 },
];
const LATE = [
  { from: null, seconds: 1 },
  { from: 0, seconds: 3 },
];
const REPEATED = [
  { from: 1, seconds: 2 },
  { from: 1, seconds: 2 },
];

const OUTPUTS = [
  { name: "TrueHD in Matroska", make: truehd, kind: "audio", format: "mp3", seconds: 2 },
  { name: "TrueHD in Matroska", make: truehd, kind: "audio", format: "flac", seconds: 2 },
  { name: "TrueHD with pictures", make: truehdFilm, kind: "video", format: "mp4", seconds: 2 },
  { name: "Matroska with AC-3", make: () => filmWithAc3("mkv"), kind: "video", format: "mp4", seconds: 2 },
  {
    name: "fragmented MP4 with AC-3",
    make: () => filmWithAc3("mp4"),
    kind: "video",
    format: "mp4",
    seconds: 2,
  },
  { name: "unknown durations", make: unknownDurations, kind: "video", format: "webm", seconds: 6 },
  {
    name: "unknown durations of 64 bits",
    make: unknownLongDurations,
    kind: "audio",
    format: "flac",
    seconds: 6,
  },
  {
    name: "Matroska that starts at 100 s",
    make: () => lateMatroska(true),
    kind: "video",
    format: "webm",
    seconds: 6,
  },
  ...(["wav", "mp3", "flac", "opus"] as const).flatMap((format) => [
    {
      name: "a part cut out by edits",
      make: () => editedMovie(CUT),
      kind: "audio",
      format,
      seconds: 4,
    } as const,
    {
      name: "a part repeated by edits",
      make: () => editedMovie(REPEATED),
      kind: "audio",
      format,
      seconds: 4,
    } as const,
  ]),
  { name: "a part cut out by edits", make: () => editedMovie(CUT), kind: "video", format: "mp4", seconds: 4 },
  {
    name: "a part cut out by edits under a header that still states 6 s",
    make: () => editedMovie(CUT, 6),
    kind: "video",
    format: "mp4",
    seconds: 4,
  },
  {
    name: "sound that edits make shorter than the pictures",
    make: () => editedSound(REPEATED),
    kind: "audio",
    format: "wav",
    seconds: 4,
  },
  {
    name: "a second of nothing before all tracks",
    make: () => editedMovie(LATE),
    kind: "video",
    format: "mp4",
    seconds: 3,
  },
  {
    name: "a part repeated by edits",
    make: () => editedMovie(REPEATED),
    kind: "video",
    format: "mp4",
    seconds: 4,
  },
] as const;

test.concurrent.for(OUTPUTS)(
  "$name: $kind in $format lasts $seconds s",
  LIMIT,
  async ({ make, kind, format, seconds }, { expect }) => {
    const input = rig.serve(await make());
    const { path } = await rig.door.encode({ input, kind, options: { format } });
    const { duration, picture } = await readFacts(path);
    expect(Math.abs(duration - seconds)).toBeLessThan(0.1);
    const { duration: heard } = await readSound(path, { channels: 1 });
    expect(Math.abs(heard - seconds)).toBeLessThan(0.1);
    // Where two parts meet, ffmpeg may show a picture of each.
    if (kind === "video") expect(Math.abs((picture?.times.length ?? 0) - seconds * 25)).toBeLessThan(2);
  },
);

test("a copy of a movie with several edits is refused with that reason", LIMIT, async ({ expect }) => {
  const input = rig.serve(await editedMovie(CUT));
  const answer = await rig.door.encode({ input, kind: "video", options: { mode: "copy" } }).catch(String);
  expect(answer).toContain(
    "the edit list of the source shows several parts, or its picture size, sample rate or channels change midway; only an encode can follow that",
  );
});

// The list begins within a picture, which an encode shows from there.
const HIDDEN = [
  { name: "a copy in MP4", kind: "video", options: {}, pictures: null },
  {
    name: "a copy in MOV without sound",
    kind: "video",
    options: { format: "mov", mute: true },
    pictures: null,
  },
  { name: "a smaller MP4 with the sound copied", kind: "video", options: { width: 160 }, pictures: 138 },
  { name: "a WebM", kind: "video", options: { format: "webm", width: 160 }, pictures: 138 },
  { name: "AAC, which has no edit list", kind: "audio", options: { format: "aac" }, pictures: null },
  { name: "MP3", kind: "audio", options: { format: "mp3" }, pictures: null },
] as const;

test.concurrent.for(HIDDEN)(
  "what an edit list hides at the start stays hidden in $name",
  LIMIT,
  async ({ kind, options, pictures }, { expect }) => {
    const input = rig.serve(await copiedPart());
    const { path } = await rig.door.encode({ input, kind, options });
    const { duration, picture } = await readFacts(path);
    expect(Math.abs(duration - 5.5)).toBeLessThan(0.1);
    if (pictures !== null) expect(picture?.times).toHaveLength(pictures);
    const silent = "mute" in options;
    if (!silent) expect(Math.abs((await readSound(path, { channels: 1 })).duration - 5.5)).toBeLessThan(0.1);
  },
);

test("sound whose start is hidden is not copied into AAC", LIMIT, async ({ expect }) => {
  const input = rig.serve(await copiedPart());
  const answer = await rig.door.encode({ input, kind: "audio", options: { mode: "copy" } }).catch(String);
  expect(answer).toContain("the edit list of the source hides a part of it, and aac files have no edit list");
});

const RESTARTED = [
  { name: "a transport stream", make: async () => joined("ts", [await stream(), await stream()]) },
  {
    name: "a program stream",
    make: async () => joined("mpg", [await programStream(), await programStream()]),
  },
] as const;

test.concurrent.for(RESTARTED)(
  "the second part of $name whose clock restarts can be cut out and shown",
  LIMIT,
  async ({ make }, { expect }) => {
    const path = await make();
    const input = rig.serve(path);
    const options = { start: 7, end: 10, width: 160 };
    const video = await rig.door.encode({ input, kind: "video", options });
    const { picture } = await readFacts(video.path);
    expect(Math.abs((picture?.times.length ?? 0) - 75)).toBeLessThan(2);
    // The longer track of the first part decides when the second begins.
    const likeness = await Promise.all(
      [174, 175].map((frame) =>
        measureLikeness(video.path, path, {
          filter: `trim=start_frame=${frame}:end_frame=${frame + 75},setpts=PTS-STARTPTS,scale=160:120`,
        }),
      ),
    );
    expect(Math.max(...likeness.map(({ mean }) => mean))).toBeGreaterThan(0.9);
    const heard = await rig.door.encode({ input, kind: "audio", options: { start: 7, end: 10 } });
    expect(Math.abs((await readSound(heard.path, { channels: 1 })).duration - 3)).toBeLessThan(0.1);
    const stills = await rig.door.encode({ input, kind: "image", options: { count: 3, format: "png" } });
    const { files = [] } = stills.task.steps.find(({ kind }) => kind === "image")?.output ?? {};
    expect(files.map(({ time = 0 }) => Math.round(time))).toEqual([0, 4, 8]);
    const last = await rig.door.fetchFile(files[2]?.url ?? "");
    const frame = Math.round((files[2]?.time ?? 0) * 25);
    const matches = await Promise.all(
      [frame - 1, frame].map((at) =>
        measureLikeness(last.path, path, {
          filter: `trim=start_frame=${at}:end_frame=${at + 1},setpts=PTS-STARTPTS`,
        }),
      ),
    );
    expect(Math.max(...matches.map(({ mean }) => mean))).toBeGreaterThan(0.9);
  },
);

test(
  "Matroska that starts at 100 s has stills, a storyboard and a size by its packets",
  LIMIT,
  async ({ expect }) => {
    const path = await lateMatroska(true);
    const input = rig.serve(path);
    const filesOf = async (kind: "image" | "storyboard", options: Record<string, unknown>) => {
      const { task } = await rig.door.encode({ input, kind, options });
      return task.steps.find((step) => step.kind === kind)?.output?.files ?? [];
    };
    const stills = await filesOf("image", { count: 3, width: 80, format: "png" });
    expect(stills.map(({ time = 0 }) => Math.round(time))).toEqual([0, 2, 4]);
    const sheets = await filesOf("storyboard", { interval: 4, columns: 2, rows: 1, width: 80 });
    expect(sheets.filter(({ mime }) => mime === "image/jpeg")).toHaveLength(1);
    const target = 120_000;
    const small = await rig.door.encode({
      input,
      kind: "video",
      options: { target_size: target, width: 160 },
    });
    const { size } = await stat(small.path);
    expect(size).toBeLessThanOrEqual(target);
    expect(size).toBeGreaterThan(target / 2);
  },
);

test.concurrent.for([1, 2])(
  "the second part of a chained Ogg of 1 and %s channels can be cut out",
  LIMIT,
  async (channels, { expect }) => {
    const input = rig.serve(await joined("ogg", [await vorbis(1), await vorbis(channels)]));
    const { path } = await rig.door.encode({ input, kind: "audio", options: { start: 7, end: 10 } });
    expect(Math.abs((await readSound(path, { channels: 1 })).duration - 3)).toBeLessThan(0.1);
  },
);

test.concurrent.for(["opus", "mp3", "flac"])(
  "an MP3 with broken joints converts to %s",
  LIMIT,
  async (format, { expect }) => {
    const input = rig.serve(await brokenJoints());
    const { path, task } = await rig.door.encode({ input, kind: "audio", options: { format } });
    const { counts } = task.steps.find(({ kind }) => kind === "audio")?.output ?? {};
    const { duration } = await readSound(path, { channels: 1 });
    expect(Math.abs(duration - (counts?.sound?.source ?? 0))).toBeLessThan(0.3);
  },
);

test.concurrent.for(["flac", "wav", "mp3", "opus"])(
  "sound shorter than the clock of ffmpeg's status converts to %s",
  LIMIT,
  async (format, { expect }) => {
    const sine = "sine=440:r=48000,atrim=end_sample=40";
    const input = rig.serve(await makeClip("wav", ["-f", "lavfi", "-i", sine]));
    const { path } = await rig.door.encode({ input, kind: "audio", options: { format } });
    expect((await readSound(path, { channels: 1 })).channels[0]?.length).toBeGreaterThanOrEqual(40);
  },
);

test.concurrent.for([
  { format: "mp3", start: 0, seconds: 6 },
  { format: "flac", start: 0, seconds: 6 },
  { format: "flac", start: 0, seconds: 3 },
  { format: "wav", start: 4, seconds: 1 },
])(
  "a FLAC of misnumbered frames converts to $format, $seconds s from $start s",
  LIMIT,
  async ({ format, start, seconds }, { expect }) => {
    const path = await flacOfSampleNumbers();
    const options = { format, start, ...(seconds < 6 && { end: start + seconds }) };
    const output = await rig.door.encode({ input: rig.serve(path), kind: "audio", options });
    const original = await readSound(await sound("flac"), {
      channels: 1,
      after: ["-af", `atrim=${start}:${start + seconds}`],
    });
    const { duration, channels } = await readSound(output.path, { channels: 1 });
    expect(Math.abs(duration - seconds)).toBeLessThan(0.1);
    if (format !== "mp3") expect(channels).toEqual(original.channels);
  },
);

test("a part of a joined video that is cut off needs partial too", LIMIT, async ({ expect }) => {
  const [whole, cut] = [await faststart(), await cutOff(await faststart(), "mp4", 0.6)];
  const options = { width: 160, concat: [{ url: rig.serve(cut) }] };
  const body = { input: rig.serve(whole), kind: "video" } as const;
  const { error } = await rig.door.runTask({ ...body, options });
  expect(error).toMatchObject({ kind: "input_unsupported", reason: { code: "cut_off", part: 1 } });
  const { path, task } = await rig.door.encode({ ...body, options: { ...options, partial: true } });
  expect(Math.abs((await readFacts(path)).duration - 9.5)).toBeLessThan(0.2);
  const { dropped = [] } = task.steps.find(({ kind }) => kind === "video")?.output ?? {};
  expect(dropped).toContainEqual(expect.objectContaining({ kind: "video", part: 1, reason: "cut_off" }));
});

const CUT_FLAC = [
  { rate: 44_100, share: 0.6 },
  { rate: 44_100, share: 0.97 },
  { rate: 8000, share: 0.6 },
  { rate: 8000, share: 0.95 },
].flatMap((cut) => (["wav", "flac", "mp3"] as const).map((format) => ({ ...cut, format })));

test.concurrent.for(CUT_FLAC)(
  "a FLAC of $rate Hz cut off at $share of its bytes converts to $format as far as its frames are whole",
  LIMIT,
  async ({ rate, share, format }, { expect }) => {
    const noise = ["-f", "lavfi", "-i", `anoisesrc=d=6:a=0.3:r=${rate}:seed=7`, "-frame_size", "4608"];
    const path = await cutOff(await makeClip("flac", noise), "flac", share);
    const sound = { kind: "audio", options: { format } } as const;
    const { path: output, task } = await rig.door.encode({ input: rig.serve(path), ...sound });
    const original = await readSound(path, { channels: 1 });
    const { duration } = await readSound(output, { channels: 1 });
    expect(Math.abs(duration - original.duration)).toBeLessThan(format === "mp3" ? 0.2 : 0.001);
    const { dropped = [], counts } = task.steps.find(({ kind }) => kind === "audio")?.output ?? {};
    expect(dropped).toContainEqual(expect.objectContaining({ kind: "audio", reason: "cut_off" }));
    expect(counts?.sound?.source).toBeCloseTo(original.duration, 2);
  },
);

const CUT_OFF: readonly CutRow[] = [
  { name: "an MP4 whose index comes first", make: () => faststart(), share: 0.6, seconds: 3.5, asks: true },
  // The last fragment begins with its pictures, nearly all of which are whole; the sound ends with the fragments before it.
  {
    name: "an MP4 within its last fragment",
    make: () => fragmented(),
    share: 0.9,
    seconds: 4,
    pictures: 141,
    asks: true,
  },
  { name: "a Matroska", make: () => film("mkv"), share: 0.6, seconds: 3.6, asks: false },
  { name: "a transport stream", make: () => stream(), share: 0.6, seconds: 3.6, asks: false },
  { name: "an AVI", make: () => avi(), share: 0.6, seconds: 3.1, asks: false },
  { name: "an FLV", make: () => film("flv"), share: 0.6, seconds: 3.6, asks: false },
];

interface CutRow {
  name: string;
  make(): Promise<string>;
  /** Share of the bytes that are left. */
  share: number;
  seconds: number;
  /** The exact number of whole pictures; by default about as many as the sound has time for. */
  pictures?: number;
  /** Whether only the option `partial` converts it. */
  asks: boolean;
}

const LOOKS = [
  ["image", { count: 2, width: 80 }],
  ["animation", { width: 80, fps: 5 }],
  ["storyboard", { width: 80 }],
  ["waveform", {}],
] as const;

test.concurrent.for(CUT_OFF)(
  "$name that is cut off converts as far as it is whole",
  LIMIT,
  async (row, { expect }) => {
    const { make, share, seconds, asks, pictures = seconds * 25 } = row;
    const path = await make();
    const input = rig.serve(await cutOff(path, extname(path).slice(1), share));
    if (asks) {
      const { error } = await rig.door.runTask({ input, kind: "video", options: { width: 160 } });
      expect(error).toMatchObject({ kind: "input_unsupported", reason: { code: "cut_off" } });
      expect(error?.message).toContain("options.partial converts that part");
    }
    for (const [kind, options] of LOOKS) {
      if (asks) {
        const { error } = await rig.door.runTask({ input, kind, options });
        expect([kind, error?.reason?.code]).toEqual([kind, "cut_off"]);
      }
      const { task } = await rig.door.encode({
        input,
        kind,
        options: { ...options, ...(asks && { partial: true }) },
      });
      const { dropped = [] } = task.steps.find((step) => step.kind === kind)?.output ?? {};
      expect(dropped).toContainEqual(expect.objectContaining({ reason: "cut_off" }));
    }
    for (const [kind, options] of [
      ["video", { width: 160 }],
      ["audio", { format: "opus" }],
    ] as const) {
      const { path: output, task } = await rig.door.encode({
        input,
        kind,
        options: { ...options, ...(asks && { partial: true }) },
      });
      const { duration } = await readSound(output, { channels: 1 });
      expect(Math.abs(duration - seconds)).toBeLessThan(0.2);
      const { dropped = [] } = task.steps.find((step) => step.kind === kind)?.output ?? {};
      expect(dropped).toContainEqual(expect.objectContaining({ kind, reason: "cut_off" }));
      if (kind === "audio") continue;
      const { picture } = await readFacts(output);
      const difference = Math.abs((picture?.times.length ?? 0) - pictures);
      expect(difference).toBeLessThan(row.pictures ? 1 : 4);
    }
  },
);
