import { afterAll, beforeAll, test } from "vitest";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import {
  editedMovie,
  filmWithAc3,
  joined,
  lateMatroska,
  programStream,
  stream,
  truehd,
  truehdFilm,
  unknownDurations,
  vorbis,
} from "../judge/odd-lengths.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { readSound } from "../judge/sound.ts";

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
  expect(answer).toContain("its edit list shows several parts, which only an encode can follow");
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

test.concurrent.for([1, 2])(
  "the second part of a chained Ogg of 1 and %s channels can be cut out",
  LIMIT,
  async (channels, { expect }) => {
    const input = rig.serve(await joined("ogg", [await vorbis(1), await vorbis(channels)]));
    const { path } = await rig.door.encode({ input, kind: "audio", options: { start: 7, end: 10 } });
    expect(Math.abs((await readSound(path, { channels: 1 })).duration - 3)).toBeLessThan(0.1);
  },
);
