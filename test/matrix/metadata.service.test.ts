import { afterAll, beforeAll, test } from "vitest";
import type { Dropped } from "../../src/media/source.ts";
import type { Task } from "../../src/runs/task.ts";
import { overfullVideo, readCues } from "../judge/cues.ts";
import { id3Sound } from "../judge/id3.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import {
  chunkWith,
  flacWith,
  m4aOfGenreNumber,
  m4aWith,
  mp3With,
  mp3WithApe,
  readComments,
  readId3Texts,
  soundWith,
} from "../judge/several.ts";
import {
  crowdedVideo,
  LOCATION,
  MADE,
  readChapters,
  readCovers,
  readCreationTime,
  readFileTags,
  taggedSound,
  taggedVideo,
  WORK,
} from "../judge/tags.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const { track: _, ...WITHOUT_TRACK } = WORK;

const droppedOf = (task: Task): Dropped[] | undefined => task.steps[2]?.output?.dropped;
const encoderOf = (task: Task) => task.steps[2]?.output?.encoder;

const PRIVATE = { kind: "tags", reason: "private" } as const;
const NO_TAG = { kind: "tags", reason: "no_place_in_format" } as const;
const NO_WAY = { kind: "cover", index: 1, reason: "not_supported" } as const;
const noCover = (index: number) => ({ kind: "cover", index, reason: "no_place_in_format" }) as const;

test.concurrent.for([
  { name: "flac", options: { format: "mp3" }, wanted: WORK, cover: true, dropped: [PRIVATE] },
  { name: "flac", options: { format: "flac" }, wanted: WORK, cover: true, dropped: [PRIVATE] },
  {
    name: "flac",
    options: { format: "flac", start: 1, end: 2 },
    wanted: WORK,
    cover: true,
    dropped: [PRIVATE],
  },
  { name: "flac", options: { format: "ogg" }, wanted: WORK, cover: true, dropped: [PRIVATE] },
  { name: "flac", options: { format: "opus", start: 1 }, wanted: WORK, cover: true, dropped: [PRIVATE] },
  { name: "flac", options: { format: "aac" }, wanted: WORK, cover: false, dropped: [noCover(1), PRIVATE] },
  { name: "flac", options: { format: "wav" }, wanted: WORK, cover: false, dropped: [noCover(1), PRIVATE] },
  { name: "mp3", options: { format: "mp3" }, wanted: WORK, cover: true, dropped: [PRIVATE] },
  {
    name: "mp3",
    options: { format: "mp3", start: 1, end: 2 },
    wanted: WORK,
    cover: true,
    dropped: [PRIVATE],
  },
  { name: "mp3", options: { format: "flac" }, wanted: WORK, cover: true, dropped: [PRIVATE] },
  { name: "mp3", options: { format: "ogg" }, wanted: WORK, cover: true, dropped: [PRIVATE] },
  { name: "mp3", options: { format: "opus" }, wanted: WORK, cover: true, dropped: [PRIVATE] },
  { name: "m4a", options: { format: "mp3" }, wanted: WORK, cover: true, dropped: [PRIVATE] },
  { name: "ogg", options: { format: "ogg" }, wanted: WORK, cover: false, dropped: [PRIVATE] },
  { name: "ogg", options: { format: "mp3" }, wanted: WORK, cover: false, dropped: [PRIVATE] },
  { name: "wav", options: { format: "flac" }, wanted: WORK, cover: false, dropped: undefined },
] as const)(
  "audio $name to $options keeps the tags and cover it can and lists what it drops",
  LIMIT,
  async ({ name, options, wanted, cover, dropped }, { expect }) => {
    const original = await taggedSound(name);
    const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
    expect(await readFileTags(output.path)).toEqual(wanted);
    expect(await readCovers(output.path)).toEqual(cover ? await readCovers(original) : []);
    expect(droppedOf(output.task)).toEqual(dropped);
  },
);

const WORKS = { isrc: "USRC17607839", bpm: "120", compilation: "1", mood: "calm", label: "Dawn Records" };
const SECRETS = {
  "recording location": "Paris",
  gps_latitude: "48.85",
  "camera serial": "12345",
  software: "Recorder 3",
  encoded_by: "Ada",
  "com.android.version": "14",
};

test.concurrent.for([
  { from: "flac", to: "flac", names: {} },
  { from: "flac", to: "ogg", names: {} },
  { from: "ogg", to: "opus", names: {} },
  { from: "flac", to: "mp3", names: { isrc: "tsrc", bpm: "tbpm" } },
  { from: "mp3", to: "flac", names: {} },
] as const)(
  "$from to $to keeps every tag but those of places, devices and software",
  LIMIT,
  async ({ from, to, names }, { expect }) => {
    const input = rig.serve(await soundWith(from, { ...WORKS, ...SECRETS }));
    const { path, task } = await rig.door.encode({ input, kind: "audio", options: { format: to } });
    const named = Object.entries(WORKS).map(([name, value]) => [
      names[name as keyof typeof names] ?? name,
      value,
    ]);
    expect(await readFileTags(path)).toEqual(Object.fromEntries(named));
    expect(droppedOf(task)).toEqual([PRIVATE]);
  },
);

test.concurrent.for([
  { characters: 5100, format: "flac", dropped: undefined },
  { characters: 30_000, format: "mp3", dropped: undefined },
  { characters: 30_000, format: "opus", dropped: undefined },
  { characters: 40_000, format: "flac", dropped: [{ kind: "tags", reason: "too_long" }] },
] as const)(
  "$format keeps lyrics of $characters characters, or says that they are too long",
  LIMIT,
  async ({ characters, format, dropped }, { expect }) => {
    const lyrics = "La la lä, ".repeat(characters / 10).trim();
    const input = rig.serve(await soundWith("flac", { title: "Song", lyrics }));
    const { path, task } = await rig.door.encode({ input, kind: "audio", options: { format } });
    const tags = await readFileTags(path);
    expect(tags.lyrics ?? tags["lyrics-xxx"] ?? tags["lyrics-eng"]).toBe(dropped ? undefined : lyrics);
    expect(tags.title).toBe("Song");
    expect(droppedOf(task)).toEqual(dropped);
  },
);

test.concurrent.for(["flac", "ogg", "opus"] as const)(
  "%s keeps each of several values of a tag",
  LIMIT,
  async (format, { expect }) => {
    const comments = ["TITLE=Song", "ARTIST=Ada", "ARTIST=Ben; Cleo", "GENRE=Jazz", "GENRE=Folk"];
    const input = rig.serve(await flacWith(comments));
    const { path, task } = await rig.door.encode({ input, kind: "audio", options: { format } });
    const lines = (await readComments(path)).map((text) =>
      text.replace(/^[^=]+/, (name) => name.toUpperCase()),
    );
    expect(lines.sort()).toEqual(comments.toSorted());
    expect(droppedOf(task)).toBeUndefined();
  },
);

test.concurrent.for(["mp3", "aac"] as const)(
  "%s keeps each of several values of a tag, with chapters and without",
  LIMIT,
  async (format, { expect }) => {
    const chapters = ["CHAPTER000=00:00:00.000", "CHAPTER000NAME=Dawn"];
    for (const more of [[], chapters]) {
      const comments = ["TITLE=Söng", "ARTIST=Ada", "ARTIST=Bén; Cleo", "MOOD=calm", "MOOD=warm"];
      const input = rig.serve(await flacWith([...comments, ...more]));
      const { path, task } = await rig.door.encode({ input, kind: "audio", options: { format } });
      const texts = (await readId3Texts(path)).filter((text) => !text.includes("major_brand"));
      if (more.length === 0 || format === "aac")
        expect(texts.sort()).toEqual(["TIT2=Söng", "TPE1=Ada\0Bén; Cleo", "TXXX=mood\0calm\0warm"]);
      const lost = format === "aac" ? [{ kind: "chapters", reason: "no_place_in_format" }] : undefined;
      expect(droppedOf(task)).toEqual(more.length === 0 ? undefined : lost);
      const again = await rig.door.encode({
        input: rig.serve(path),
        kind: "audio",
        options: { format: "flac" },
      });
      expect((await readComments(again.path)).sort()).toEqual(
        expect.arrayContaining(["artist=Ada", "artist=Bén; Cleo"]),
      );
    }
  },
);

test.concurrent.for(["mp3", "flac", "aac", "wav"] as const)(
  "the genre that an M4A states by its number is in %s by its name",
  LIMIT,
  async (format, { expect }) => {
    const input = rig.serve(await m4aOfGenreNumber());
    const { path } = await rig.door.encode({ input, kind: "audio", options: { format } });
    expect((await readFileTags(path)).genre).toBe("Ska");
  },
);

test.concurrent(
  "joins several values of a tag where the format holds one, and says so",
  LIMIT,
  async ({ expect }) => {
    const input = rig.serve(await flacWith(["ARTIST=Ada", "ARTIST=Ben"]));
    const { path, task } = await rig.door.encode({ input, kind: "audio", options: { format: "wav" } });
    expect(await readFileTags(path)).toEqual({ artist: "Ada;Ben" });
    expect(droppedOf(task)).toEqual([{ kind: "tags", reason: "joined" }]);
  },
);

const FRAMES = [
  ["TPE1", "Ada\0Ben"],
  ["TXXX", "mood\0calm"],
  ["TXXX", "mood\0warm"],
  ["TKEY", "Am"],
  ["TLAN", "eng"],
  ["COMM", "eng\0plain"],
  ["COMM", "engmastering\0loud"],
] as const;
const TEXTS = [
  "ARTIST=Ada",
  "ARTIST=Ben",
  "DESCRIPTION=plain",
  "LANGUAGE=eng",
  "MASTERING=loud",
  "MOOD=calm",
  "MOOD=warm",
];

test.concurrent.for([
  { name: "an MP3", make: () => mp3With(FRAMES), texts: [...TEXTS, "TKEY=Am"] },
  { name: "a WAV", make: () => chunkWith("wav", FRAMES), texts: [...TEXTS, "TKEY=Am"] },
  { name: "an AIFF", make: () => chunkWith("aiff", FRAMES), texts: [...TEXTS, "TKEY=Am"] },
  {
    name: "an M4A",
    make: () => m4aWith(["Ada", "Ben", "Cleo"]),
    texts: ["ARTIST=Ada", "ARTIST=Ben", "ARTIST=Cleo"],
  },
  {
    name: "an M4A of ALAC",
    make: () => m4aWith(["Ada", "Ben"], "alac"),
    texts: ["ARTIST=Ada", "ARTIST=Ben"],
  },
  {
    name: "an APE tag of an MP3",
    make: () =>
      mp3WithApe([
        ["Artist", "Ada\0Ben"],
        ["Year", "1999"],
      ]),
    texts: ["ARTIST=Ada", "ARTIST=Ben", "DATE=1999"],
  },
])("keeps every text and value of $name in FLAC and Opus", LIMIT, async ({ make, texts }, { expect }) => {
  const input = rig.serve(await make());
  for (const format of ["flac", "opus"]) {
    const { path, task } = await rig.door.encode({ input, kind: "audio", options: { format } });
    const comments = await readComments(path);
    const named = comments.map((text) => text.replace(/^[^=]+/, (name) => name.toUpperCase()));
    expect(named.sort(), format).toEqual(texts.toSorted());
    expect(droppedOf(task)).toBeUndefined();
  }
});

test.concurrent(
  "keeps the frames of an MP3 that Vorbis comments have no name for",
  LIMIT,
  async ({ expect }) => {
    const input = rig.serve(await mp3With(FRAMES));
    const { path } = await rig.door.encode({ input, kind: "audio", options: { format: "mp3" } });
    expect((await readId3Texts(path)).sort()).toEqual([
      "TKEY=Am",
      "TLAN=eng",
      "TPE1=Ada\0Ben",
      "TXXX=comment\0plain",
      "TXXX=mastering\0loud",
      "TXXX=mood\0calm\0warm",
    ]);
  },
);

const GAIN = { replaygain_track_gain: "-6.20 dB", r128_track_gain: "-512" };

test.concurrent.for([
  { options: { format: "flac" }, dropped: undefined },
  { options: { format: "mp3", fade_in: 0.5 }, dropped: undefined },
  { options: { format: "opus", normalize: true }, dropped: [{ kind: "tags", reason: "asked" }] },
  { options: { format: "flac", volume: 0.5 }, dropped: [{ kind: "tags", reason: "asked" }] },
] as const)(
  "$options keeps the gain of its sound where it is as loud",
  LIMIT,
  async ({ options, dropped }, { expect }) => {
    const input = rig.serve(await soundWith("flac", { title: "Song", ...GAIN }));
    const { path, task } = await rig.door.encode({ input, kind: "audio", options });
    expect(await readFileTags(path)).toEqual({ title: "Song", ...(dropped ? {} : GAIN) });
    expect(droppedOf(task)).toEqual(dropped);
  },
);

test.concurrent.for([
  {
    kind: "ID3v1",
    options: { format: "mp3" },
    wanted: { ...WORK, track: "3", date: "2020" },
    cover: false,
    dropped: undefined,
  },
  {
    kind: "unsynchronised ID3v2.3",
    options: { format: "flac" },
    wanted: WORK,
    cover: false,
    dropped: [NO_WAY, PRIVATE],
  },
  {
    kind: "unsynchronised ID3v2.4",
    options: { format: "mp3" },
    wanted: WORK,
    cover: true,
    dropped: [PRIVATE],
  },
  {
    kind: "unsynchronised ID3v2.4",
    options: { format: "opus" },
    wanted: WORK,
    cover: true,
    dropped: [PRIVATE],
  },
] as const)(
  "an MP3 with $kind to $options keeps its tags, and the cover it can",
  LIMIT,
  async ({ kind, options, wanted, cover, dropped }, { expect }) => {
    const original = await id3Sound(kind);
    const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
    expect(await readFileTags(output.path)).toEqual(wanted);
    expect(await readCovers(output.path)).toEqual(cover ? await readCovers(original) : []);
    expect(droppedOf(output.task)).toEqual(dropped);
  },
);

test.concurrent.for([
  { name: "mp4", options: { format: "mp4" }, encoder: "copy", wanted: WORK, cover: true, dropped: [PRIVATE] },
  {
    name: "mp4",
    options: { format: "mp4", width: 160 },
    encoder: "light",
    wanted: WORK,
    cover: true,
    dropped: [PRIVATE],
  },
  {
    name: "mp4",
    options: { format: "mp4", width: 160, start: 1, end: 2 },
    encoder: "light",
    wanted: WORK,
    cover: true,
    dropped: [PRIVATE],
  },
  {
    name: "mp4",
    options: { format: "mp4", codec: "h265" },
    encoder: "native",
    wanted: WORK,
    cover: true,
    dropped: [PRIVATE],
  },
  {
    name: "mp4",
    options: { format: "mov" },
    encoder: "copy",
    wanted: WITHOUT_TRACK,
    cover: false,
    dropped: [noCover(2), NO_TAG, PRIVATE],
  },
  {
    name: "mp4",
    options: { format: "mov", width: 160 },
    encoder: "light",
    wanted: WITHOUT_TRACK,
    cover: false,
    dropped: [noCover(2), NO_TAG, PRIVATE],
  },
  {
    name: "mp4",
    options: { format: "webm", width: 160 },
    encoder: "light",
    wanted: WORK,
    cover: false,
    dropped: [noCover(2), PRIVATE],
  },
  {
    name: "webm",
    options: { format: "mp4", width: 160 },
    encoder: "light",
    wanted: WORK,
    cover: false,
    dropped: [PRIVATE],
  },
  {
    name: "webm",
    options: { format: "webm", width: 160 },
    encoder: "light",
    wanted: WORK,
    cover: false,
    dropped: [PRIVATE],
  },
  {
    name: "mkv",
    options: { format: "mp4" },
    encoder: "copy",
    wanted: WORK,
    cover: false,
    dropped: [PRIVATE],
  },
  {
    name: "mov",
    options: { format: "mp4" },
    encoder: "copy",
    wanted: WITHOUT_TRACK,
    cover: false,
    dropped: [PRIVATE],
  },
] as const)(
  "video $name to $options by $encoder keeps the tags and cover it can and lists what it drops",
  LIMIT,
  async ({ name, options, encoder, wanted, cover, dropped }, { expect }) => {
    const original = await taggedVideo(name);
    const output = await rig.door.encode({ input: rig.serve(original), kind: "video", options });
    expect(encoderOf(output.task)).toBe(encoder === "copy" ? "light" : encoder);
    expect(await readFileTags(output.path)).toEqual(wanted);
    expect(await readCovers(output.path)).toEqual(cover ? await readCovers(original) : []);
    expect(droppedOf(output.task)).toEqual(dropped);
  },
);

test.concurrent.for([
  { name: "mp4", kind: "video", options: { format: "mp4" }, usual: "clean" },
  { name: "mp4", kind: "video", options: { format: "mp4", width: 160 }, usual: undefined },
  { name: "mov", kind: "video", options: { format: "mov" }, usual: undefined },
  { name: "mov", kind: "video", options: { format: "mov", width: 160 }, usual: "clean" },
  { name: "mkv", kind: "video", options: { format: "webm", width: 160 }, usual: undefined },
  { name: "flac", kind: "audio", options: { format: "mp3" }, usual: undefined },
  { name: "flac", kind: "audio", options: { format: "opus" }, usual: "clean" },
] as const)(
  "drops the location and creation time of $name as $kind with $options with metadata $usual, but not with keep",
  LIMIT,
  async ({ name, kind, options, usual }, { expect }) => {
    const original = kind === "video" ? await taggedVideo(name as "mp4") : await taggedSound(name as "flac");
    const input = rig.serve(original);
    const convert = async (metadata?: string) => {
      const merged = metadata === undefined ? options : { ...options, metadata };
      const { path, task } = await rig.door.encode({ input, kind, options: merged });
      const [tags, covers] = [await readFileTags(path), await readCovers(path)];
      return { tags, covers, creation_time: await readCreationTime(path), dropped: droppedOf(task) };
    };
    const [clean, keep, strip] = [await convert(usual), await convert("keep"), await convert("strip")];
    expect(clean.tags).not.toHaveProperty("location");
    expect(clean.tags).not.toHaveProperty("make");
    expect(clean.tags).toMatchObject({ title: WORK.title });
    expect(clean.dropped).toContainEqual(PRIVATE);
    expect(keep.tags).toMatchObject({ title: WORK.title, location: LOCATION });
    expect(keep.dropped ?? []).not.toContainEqual(PRIVATE);
    expect(strip.tags).toEqual({});
    expect([clean.creation_time, keep.creation_time, strip.creation_time]).toEqual([
      undefined,
      MADE,
      undefined,
    ]);
    expect(strip.covers).toEqual([]);
    expect(strip.dropped).toContainEqual({ kind: "tags", reason: "asked" });
  },
);

const TRACK = { kind: "audio", index: 2, language: "fra", reason: "one_track" } as const;
const TEXT = { kind: "subtitle", index: 3, language: "deu", reason: "not_supported" } as const;
const CHAPTERS = { kind: "chapters", reason: "not_supported" } as const;
const PICTURES = { kind: "video", index: 0, reason: "asked" } as const;
const PARTS = ["0.000 to 1.0 Dawn", "1.000 to 3.0 Zwölf Uhr"];
const MIXED = { kind: "channels", index: 1, reason: "downmixed" } as const;

test.concurrent.for([
  {
    name: "mkv",
    kind: "video",
    options: { format: "mp4", width: 160 },
    dropped: [TRACK, MIXED],
    chapters: PARTS,
  },
  {
    name: "mp4",
    kind: "video",
    options: { format: "mp4", codec: "h265", width: 160 },
    dropped: [TRACK, MIXED],
    chapters: PARTS,
  },
  {
    name: "mp4",
    kind: "video",
    options: { format: "webm", width: 160 },
    dropped: [TRACK, MIXED],
    chapters: PARTS,
  },
  {
    name: "mp4",
    kind: "audio",
    options: { format: "flac" },
    dropped: [PICTURES, TRACK, TEXT],
    chapters: PARTS,
  },
  {
    name: "mkv",
    kind: "audio",
    options: { format: "mp3", start: 0.5 },
    dropped: null,
    chapters: ["0.000 to 0.5 Dawn", "0.500 to 2.5 Zwölf Uhr"],
  },
  {
    name: "mkv",
    kind: "audio",
    options: { format: "opus", speed: 2 },
    dropped: null,
    chapters: ["0.000 to 0.5 Dawn", "0.500 to 1.5 Zwölf Uhr"],
  },
  {
    name: "mp4",
    kind: "audio",
    options: { format: "wav" },
    dropped: [PICTURES, TRACK, TEXT, { kind: "chapters", reason: "no_place_in_format" }],
    chapters: [],
  },
  { name: "mp4", kind: "adaptive_video", options: {}, dropped: [MIXED, CHAPTERS], chapters: null },
] as const)(
  "$name to $kind with $options keeps the text and chapters, and lists the dropped streams and channels",
  LIMIT,
  async ({ name, kind, options, dropped, chapters }, { expect }) => {
    const original = await crowdedVideo(name);
    const { task, path } = await rig.door.encode({ input: rig.serve(original), kind, options });
    if (dropped) expect(droppedOf(task)).toEqual(dropped);
    if (chapters) expect(await readChapters(path)).toEqual(chapters);
    const text = task.steps[2]?.output?.streams?.find((stream) => stream.kind === "subtitle");
    expect(text).toEqual(kind === "video" ? expect.objectContaining({ language: "deu" }) : undefined);
    if (kind === "video") expect(await readCues(path, 0)).toEqual(["0.000 2.000 Hello"]);
  },
);

test.concurrent.for([
  { name: "copy", options: { mode: "copy", format: "mp4", metadata: "clean" }, chapters: PARTS },
  {
    name: "trim",
    options: { start: 0.5, end: 2, width: 160 },
    chapters: ["0.000 to 0.5 Dawn", "0.500 to 1.5 Zwölf Uhr"],
  },
  {
    name: "end",
    options: { end: 1, width: 160, speed: 0.5, format: "mov" },
    chapters: ["0.000 to 2.0 Dawn"],
  },
  { name: "strip", options: { width: 160, metadata: "strip" }, chapters: [] },
] as const)(
  "a video has the chapters of its part of the source: $name",
  LIMIT,
  async ({ options, chapters }, { expect }) => {
    const input = rig.serve(await crowdedVideo("mp4"));
    const { task, path } = await rig.door.encode({ input, kind: "video", options });
    expect(await readChapters(path)).toEqual(chapters);
    const entry = { kind: "chapters", reason: "asked" };
    expect(droppedOf(task)?.filter(({ kind }) => kind === "chapters")).toEqual(
      chapters.length > 0 ? [] : [entry],
    );
  },
);

test.concurrent.for([
  { kind: "video", options: { format: "webm", width: 160 } },
  { kind: "adaptive_video", options: {} },
] as const)(
  "lists a text that $kind with $options could not read",
  LIMIT,
  async ({ kind, options }, { expect }) => {
    const input = rig.serve(await overfullVideo());
    const { task } = await rig.door.encode({ input, kind, options });
    const lost = { kind: "subtitle", index: 2, language: "eng", reason: "not_supported" };
    expect(droppedOf(task)).toEqual([lost]);
  },
);

test.concurrent("lists nothing when nothing is dropped", LIMIT, async ({ expect }) => {
  const original = await taggedSound("flac");
  const options = { format: "flac", metadata: "keep" };
  const { task, path } = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
  expect(droppedOf(task)).toBeUndefined();
  expect(await readFileTags(path)).toEqual({ ...WORK, location: LOCATION, make: "Acme", model: "Cam 7" });
});

test.concurrent("rejects an unknown metadata mode", async ({ expect }) => {
  const body = { input: "https://example.com/a.mp4", kind: "video", options: { metadata: "all" } };
  expect(await rig.door.request("POST", "/tasks", body)).toMatchObject({
    status: 400,
    body: { kind: "invalid_options", param: "options.metadata" },
  });
});
