import { afterAll, beforeAll, test } from "vitest";
import type { Dropped } from "../../src/media/source.ts";
import type { Task } from "../../src/runs/task.ts";
import { overfullVideo, readCues } from "../judge/cues.ts";
import { id3Sound } from "../judge/id3.ts";
import { openRig, type Rig } from "../judge/rig.ts";
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
  ["flac", { format: "mp3" }, WORK, true, [PRIVATE]],
  ["flac", { format: "flac" }, WORK, true, [PRIVATE]],
  ["flac", { format: "flac", start: 1, end: 2 }, WORK, true, [PRIVATE]],
  ["flac", { format: "ogg" }, WORK, true, [PRIVATE]],
  ["flac", { format: "opus", start: 1 }, WORK, true, [PRIVATE]],
  ["flac", { format: "aac" }, WORK, false, [noCover(1), PRIVATE]],
  ["flac", { format: "wav" }, WORK, false, [noCover(1), PRIVATE]],
  ["mp3", { format: "mp3" }, WORK, true, [PRIVATE]],
  ["mp3", { format: "mp3", start: 1, end: 2 }, WORK, true, [PRIVATE]],
  ["mp3", { format: "flac" }, WORK, true, [PRIVATE]],
  ["mp3", { format: "ogg" }, WORK, true, [PRIVATE]],
  ["mp3", { format: "opus" }, WORK, true, [PRIVATE]],
  ["m4a", { format: "mp3" }, WORK, true, [PRIVATE]],
  ["ogg", { format: "ogg" }, WORK, false, [PRIVATE]],
  ["ogg", { format: "mp3" }, WORK, false, [PRIVATE]],
  ["wav", { format: "flac" }, WORK, false, undefined],
] as const)(
  "audio %s to %o keeps the tags and cover it can and lists what it drops",
  LIMIT,
  async ([name, options, wanted, cover, dropped], { expect }) => {
    const original = await taggedSound(name);
    const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
    expect(await readFileTags(output.path)).toEqual(wanted);
    expect(await readCovers(output.path)).toEqual(cover ? await readCovers(original) : []);
    expect(droppedOf(output.task)).toEqual(dropped);
  },
);

test.concurrent.for([
  ["ID3v1", { format: "mp3" }, { ...WORK, track: "3", date: "2020" }, false, undefined],
  ["unsynchronised ID3v2.3", { format: "flac" }, WORK, false, [NO_WAY, PRIVATE]],
  ["unsynchronised ID3v2.4", { format: "mp3" }, WORK, true, [PRIVATE]],
  ["unsynchronised ID3v2.4", { format: "opus" }, WORK, true, [PRIVATE]],
] as const)(
  "an MP3 with %s to %o keeps its tags, and the cover it can",
  LIMIT,
  async ([kind, options, wanted, cover, dropped], { expect }) => {
    const original = await id3Sound(kind);
    const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
    expect(await readFileTags(output.path)).toEqual(wanted);
    expect(await readCovers(output.path)).toEqual(cover ? await readCovers(original) : []);
    expect(droppedOf(output.task)).toEqual(dropped);
  },
);

test.concurrent.for([
  ["mp4", { format: "mp4" }, "copy", WORK, true, [PRIVATE]],
  ["mp4", { format: "mp4", width: 160 }, "light", WORK, true, [PRIVATE]],
  ["mp4", { format: "mp4", width: 160, start: 1, end: 2 }, "light", WORK, true, [PRIVATE]],
  ["mp4", { format: "mp4", codec: "h265" }, "native", WORK, true, [PRIVATE]],
  ["mp4", { format: "mov" }, "copy", WITHOUT_TRACK, false, [noCover(2), NO_TAG, PRIVATE]],
  ["mp4", { format: "mov", width: 160 }, "light", WITHOUT_TRACK, false, [noCover(2), NO_TAG, PRIVATE]],
  ["mp4", { format: "webm", width: 160 }, "light", WORK, false, [noCover(2), PRIVATE]],
  ["webm", { format: "mp4", width: 160 }, "light", WORK, false, [PRIVATE]],
  ["webm", { format: "webm", width: 160 }, "light", WORK, false, [PRIVATE]],
  ["mkv", { format: "mp4" }, "copy", WORK, false, [PRIVATE]],
  ["mov", { format: "mp4" }, "copy", WITHOUT_TRACK, false, [PRIVATE]],
] as const)(
  "video %s to %o by %s keeps the tags and cover it can and lists what it drops",
  LIMIT,
  async ([name, options, encoder, wanted, cover, dropped], { expect }) => {
    const original = await taggedVideo(name);
    const output = await rig.door.encode({ input: rig.serve(original), kind: "video", options });
    expect(encoderOf(output.task)).toBe(encoder === "copy" ? "light" : encoder);
    expect(await readFileTags(output.path)).toEqual(wanted);
    expect(await readCovers(output.path)).toEqual(cover ? await readCovers(original) : []);
    expect(droppedOf(output.task)).toEqual(dropped);
  },
);

test.concurrent.for([
  ["mp4", "video", { format: "mp4" }, "clean"],
  ["mp4", "video", { format: "mp4", width: 160 }, undefined],
  ["mov", "video", { format: "mov" }, undefined],
  ["mov", "video", { format: "mov", width: 160 }, "clean"],
  ["mkv", "video", { format: "webm", width: 160 }, undefined],
  ["flac", "audio", { format: "mp3" }, undefined],
  ["flac", "audio", { format: "opus" }, "clean"],
] as const)(
  "drops the location and creation time of %s as %s with %o with metadata %s, but not with keep",
  LIMIT,
  async ([name, kind, options, usual], { expect }) => {
    const original = kind === "video" ? await taggedVideo(name as "mp4") : await taggedSound(name as "flac");
    const input = rig.serve(original);
    const made = async (metadata?: string) => {
      const merged = metadata === undefined ? options : { ...options, metadata };
      const { path, task } = await rig.door.encode({ input, kind, options: merged });
      const [tags, covers] = [await readFileTags(path), await readCovers(path)];
      return { tags, covers, made: await readCreationTime(path), dropped: droppedOf(task) };
    };
    const [clean, keep, strip] = [await made(usual), await made("keep"), await made("strip")];
    expect(clean.tags).not.toHaveProperty("location");
    expect(clean.tags).not.toHaveProperty("make");
    expect(clean.tags).toMatchObject({ title: WORK.title });
    expect(clean.dropped).toContainEqual(PRIVATE);
    expect(keep.tags).toMatchObject({ title: WORK.title, location: LOCATION });
    expect(keep.dropped ?? []).not.toContainEqual(PRIVATE);
    expect(strip.tags).toEqual({});
    expect([clean.made, keep.made, strip.made]).toEqual([undefined, MADE, undefined]);
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
  ["mkv", "video", { format: "mp4", width: 160 }, [TRACK, MIXED], PARTS],
  ["mp4", "video", { format: "mp4", codec: "h265", width: 160 }, [TRACK, MIXED], PARTS],
  ["mp4", "video", { format: "webm", width: 160 }, [TRACK, MIXED], PARTS],
  ["mp4", "audio", { format: "flac" }, [PICTURES, TRACK, TEXT], PARTS],
  ["mkv", "audio", { format: "mp3", start: 0.5 }, null, ["0.000 to 0.5 Dawn", "0.500 to 2.5 Zwölf Uhr"]],
  ["mkv", "audio", { format: "opus", speed: 2 }, null, ["0.000 to 0.5 Dawn", "0.500 to 1.5 Zwölf Uhr"]],
  [
    "mp4",
    "audio",
    { format: "wav" },
    [PICTURES, TRACK, TEXT, { kind: "chapters", reason: "no_place_in_format" }],
    [],
  ],
  ["mp4", "adaptive_video", {}, [MIXED, CHAPTERS], null],
] as const)(
  "%s to %s with %o keeps the text and chapters, and lists the dropped streams and channels",
  LIMIT,
  async ([name, kind, options, dropped, chapters], { expect }) => {
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
  ["copy", { mode: "copy", format: "mp4", metadata: "clean" }, PARTS],
  ["trim", { start: 0.5, end: 2, width: 160 }, ["0.000 to 0.5 Dawn", "0.500 to 1.5 Zwölf Uhr"]],
  ["end", { end: 1, width: 160, speed: 0.5, format: "mov" }, ["0.000 to 2.0 Dawn"]],
  ["strip", { width: 160, metadata: "strip" }, []],
] as const)(
  "a video has the chapters of its part of the source: %s",
  LIMIT,
  async ([, options, chapters], { expect }) => {
    const input = rig.serve(await crowdedVideo("mp4"));
    const { task, path } = await rig.door.encode({ input, kind: "video", options });
    expect(await readChapters(path)).toEqual(chapters);
    const asked = { kind: "chapters", reason: "asked" };
    expect(droppedOf(task)?.filter(({ kind }) => kind === "chapters")).toEqual(
      chapters.length > 0 ? [] : [asked],
    );
  },
);

test.concurrent.for([
  ["video", { format: "webm", width: 160 }],
  ["adaptive_video", {}],
] as const)("lists a text that %s with %o could not read", LIMIT, async ([kind, options], { expect }) => {
  const input = rig.serve(await overfullVideo());
  const { task } = await rig.door.encode({ input, kind, options });
  const lost = { kind: "subtitle", index: 2, language: "eng", reason: "not_supported" };
  expect(droppedOf(task)).toEqual([lost]);
});

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
