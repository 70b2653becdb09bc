import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { measurePackets } from "../../src/probe/packet-lengths.ts";
import { measureWhole } from "../../src/probe/probe.ts";
import type { ByteRange } from "../../src/runs/ports.ts";
import { makeClip, runFfprobeWith } from "../fixtures/make-clip.ts";
import {
  changingPrograms,
  changingSound,
  editedFilm,
  editedMovie,
  exchangedStreams,
  faststart,
  film,
  fragmented,
  indexedFragments,
  joined,
  lateFlv,
  lateMatroska,
  miscounted,
  noise,
  programStream,
  rewritten,
  stream,
  timelessMovie,
  truehd,
  unknownDurations,
  unknownLongDurations,
  vorbis,
  withOddMarkers,
  wrappedClock,
} from "../judge/odd-lengths.ts";
import {
  aiffOf,
  aviOf,
  aviWithoutIndex,
  cutOff,
  flacOf,
  flvOf,
  matroskaOf,
  miscountedNoise,
  vbri,
  wavOf,
} from "../judge/wrong-headers.ts";
import { bytesReader, probeFile } from "./probe-file.ts";

test.for(["mkv", "webm"] as const)(
  "the bitrate of pictures in a %s that is cut off is that of the bytes it has",
  async (extension) => {
    const path = await makeClip(extension, [
      ...["-f", "lavfi", "-i", "nullsrc=size=160x90:rate=25:duration=6,geq=random(1)*255:128:128"],
      ...["-f", "lavfi", "-i", "sine=duration=6", "-c:v", "libvpx", "-deadline", "realtime", "-b:v", "600k"],
      ...["-c:a", extension === "webm" ? "libopus" : "libmp3lame", "-b:a", "64k"],
    ]);
    const half = await cutOff(path, extension, 0.5);
    const videoBitrate = async (file: string) => {
      const { source } = await probeFile(file);
      return { source, bitrate: source.streams?.find(({ kind }) => kind === "video")?.bitrate ?? 0 };
    };
    const [whole, cut] = [await videoBitrate(path), await videoBitrate(half)];
    expect(cut.source.truncated).toBe(true);
    const packets = await runFfprobeWith([
      ...["-v", "error", "-of", "json", "-show_packets", "-select_streams", "v", half],
    ]);
    const sizes = (packets as { packets: { size: string }[] }).packets.map(({ size }) => Number(size));
    const bits = 8 * sizes.reduce((sum, size) => sum + size, 0);
    expect(cut.bitrate / (bits / (cut.source.duration ?? 0))).toBeCloseTo(1, 1);
    expect(whole.bitrate).toBeGreaterThan(100_000);
  },
);

const FILES = [
  { name: "Matroska that starts at 100 s", make: () => lateMatroska(true), seconds: 6 },
  { name: "Matroska that starts at 100 s and states no ends", make: () => lateMatroska(false), seconds: 6 },
  {
    name: "raw Motion JPEG",
    make: async () => makeClip("bin", ["-i", await film("mp4"), "-an", "-c:v", "mjpeg", "-f", "mjpeg"]),
    seconds: 6,
  },
  {
    name: "raw Motion JPEG with a thumbnail in the EXIF data of each picture",
    make: async () =>
      withOddMarkers(await makeClip("bin", ["-i", await film("mp4"), "-an", "-c:v", "mjpeg", "-f", "mjpeg"])),
    seconds: 6,
  },
  { name: "FLV that starts at 50 s", make: lateFlv, seconds: 6.02 },
  { name: "fragmented MP4 with unknown durations", make: unknownDurations, seconds: 6 },
  { name: "fragmented MP4 with unknown durations of 64 bits", make: unknownLongDurations, seconds: 6 },
  { name: "MP3 that counts 10 times its frames", make: () => miscounted(10, "-b:a", "128k"), seconds: 6.05 },
  { name: "MP3 that counts a tenth of its frames", make: () => miscounted(0.1, "-q:a", "4"), seconds: 6.05 },
  { name: "TrueHD in Matroska", make: truehd, seconds: 2 },
  ...[0, 2, 600].map((stated) => ({
    name: `FLV that states ${stated} s`,
    make: () => flvOf(stated),
    seconds: 6.02,
  })),
  ...[0, 0.5, 10].map((times) => ({
    name: `FLAC that counts ${times} times its samples`,
    make: () => flacOf(times),
    seconds: 6,
  })),
  ...[true, false].flatMap((tagged) =>
    [0, 0.1, 10].map((times) => ({
      name: `Matroska that states ${times} times its duration${tagged ? " and the ends of its tracks" : ""}`,
      make: () => matroskaOf(times, tagged),
      seconds: 6.02,
    })),
  ),
  { name: "AVI that counts 10 times its pictures", make: () => aviOf(10), seconds: 6.05 },
  { name: "AVI that counts no pictures", make: () => aviOf(0), seconds: 6.05 },
  { name: "AVI without an index", make: aviWithoutIndex, seconds: 6 },
  ...[0, 2].map((reordered) => ({
    name: `program stream of pictures that share packets, with ${reordered} B-frames`,
    make: () => plainProgram(reordered),
    seconds: 2,
  })),
  { name: "WAV of an unknown size", make: () => wavOf(0xffff_ffff), seconds: 6 },
  { name: "WAV of no size", make: () => wavOf(0), seconds: 6 },
  { name: "WAV that states too many bytes", make: () => wavOf(6_000_000), seconds: 6 },
  { name: "AIFF that counts 10 times its samples", make: () => aiffOf(10), seconds: 6 },
  { name: "AIFF that counts no samples", make: () => aiffOf(0), seconds: 6 },
  ...[0.3, 0.5, 2].map((times) => ({
    name: `MP3 of noise that counts ${times} times its frames`,
    make: () => miscountedNoise(times),
    seconds: 6.02,
  })),
  ...[1, 10].map((times) => ({
    name: `MP3 whose VBRI tag counts ${times} times its frames`,
    make: () => vbri(times),
    seconds: 6.024,
  })),
  {
    name: "MP3 joined from two of a variable bitrate",
    make: async () => joined("mp3", [await noise(), await noise()]),
    seconds: 12.05,
  },
  {
    name: "MP3 joined from a short and a long one",
    make: async () => joined("mp3", [await miscounted(1, "-q:a", "4"), await noise()]),
    seconds: 12.05,
  },
] as const;

const SINE = ["-f", "lavfi", "-i", "sine=duration=6:sample_rate=48000"];

/** A program stream of 2 s whose pictures are so small that several share a packet, which states the time of the first. */
const plainProgram = (reordered: number) =>
  makeClip("mpg", [
    ...["-f", "lavfi", "-i", "color=red:size=160x120:rate=25:duration=2"],
    ...["-c:v", "mpeg2video", "-bf", `${reordered}`],
  ]);

const LATE = [
  { from: null, seconds: 1 },
  { from: 0, seconds: 3 },
];

const JOINED = [
  { name: "transport stream", make: async () => joined("ts", [await stream(), await stream()]), seconds: 12 },
  {
    name: "transport stream joined from three",
    make: async () => joined("ts", [await stream(), await stream(), await stream()]),
    seconds: 18,
  },
  {
    name: "program stream",
    make: async () => joined("mpg", [await programStream(), await programStream()]),
    seconds: 12,
  },
  { name: "Ogg", make: async () => joined("ogg", [await vorbis(), await vorbis()]), seconds: 12 },
  {
    name: "Ogg whose channels change",
    make: async () => joined("ogg", [await vorbis(1), await vorbis(2)]),
    seconds: 12,
  },
] as const;

test.for(JOINED)("a $name whose clock restarts lasts as long as its parts", async ({ make, seconds }) => {
  const { source } = await probeFile(await make());
  expect(Math.abs((source.duration ?? 0) - seconds)).toBeLessThan(0.15);
  expect(source.restarted).toBe(true);
});

test.for([
  { name: "its tracks", make: async () => timelessMovie(await film("mp4"), "mdhd") },
  { name: "the tracks of fragments", make: async () => timelessMovie(await fragmented(), "mdhd") },
  { name: "the index of fragments", make: async () => timelessMovie(await indexedFragments(), "sidx") },
  {
    name: "a header that delays the tracks",
    make: async () => timelessMovie(await editedFilm(await film("mp4"), LATE), "mvhd"),
  },
])("an MP4 is refused for a timescale of 0 in $name", async ({ make }) => {
  await expect(make().then(probeFile)).rejects.toMatchObject({
    kind: "input_unsupported",
    message:
      "The file has a timescale of 0, so its times cannot be converted to seconds; that is not supported.",
  });
});

test.for([film, fragmented])(
  "an MP4 with a timescale of 0 only in its movie header lasts as long as its packets",
  async (make) => {
    const { source } = await probeFile(await timelessMovie(await make("mp4"), "mvhd"));
    expect(source.duration).toBeCloseTo(6, 0);
  },
);

test.for([
  { extension: "w64", codec: "pcm_s24le", seconds: 3.66 },
  { extension: "wma", codec: "wmav2", seconds: 3.584 },
])("a $extension that is cut off lasts as long as its packets", async ({ extension, codec, seconds }) => {
  const whole = await makeClip(extension, [...SINE, "-c:a", codec]);
  expect((await probeFile(whole)).source).not.toHaveProperty("truncated");
  const { source } = await probeFile(await cutOff(whole, extension, 0.61));
  expect(source.truncated).toBe(true);
  expect(source.duration).toBeCloseTo(seconds, 2);
});

test("a Matroska of unknown size that is cut off is truncated, whatever its tags state", async () => {
  const whole = await rewritten(await film("mkv"), "mkv", "unbounded", (file) => {
    file.fill(0xff, file.indexOf("18538067", "hex") + 5, file.indexOf("18538067", "hex") + 12);
    return file;
  });
  expect((await probeFile(whole)).source).not.toHaveProperty("truncated");
  expect((await probeFile(await cutOff(whole, "mkv", 0.6))).source.truncated).toBe(true);
});

test("a Matroska of large pictures that is cut off within the last is truncated", async () => {
  const picture = [
    "-f",
    "lavfi",
    "-i",
    "color=gray:size=2048x1536:rate=25:duration=0.12",
    "-pix_fmt",
    "yuv444p",
  ];
  const whole = await makeClip("mkv", [...picture, "-c:v", "rawvideo", "-allow_raw_vfw", "1"]);
  expect((await probeFile(whole)).source).not.toHaveProperty("truncated");
  expect((await probeFile(await cutOff(whole, "mkv", 0.99))).source.truncated).toBe(true);
});

test("Opus chained with itself is refused, because its second headers would be heard", async () => {
  const opus = await makeClip("opus", [...SINE, "-c:a", "libopus"]);
  const error = { kind: "input_unsupported", message: expect.stringContaining("same serial number") };
  await expect(probeFile(await joined("opus", [opus, opus]))).rejects.toMatchObject(error);
  const other = await makeClip("opus", [...SINE, "-c:a", "libopus", "-serial_offset", "1"]);
  const { source } = await probeFile(await joined("opus", [opus, other]));
  expect([source.restarted, Math.round(source.duration ?? 0)]).toEqual([true, 12]);
});

test("an MP4 whose edit list shows nothing is refused", async () => {
  const error = { kind: "input_unsupported", message: expect.stringContaining("edit list shows nothing") };
  const nothing = [{ from: 0, seconds: 0 }];
  await expect(editedFilm(await film("mp4"), nothing).then(probeFile)).rejects.toMatchObject(error);
});

test("an MP4 that is cut off after its index lasts as long as its packets", async () => {
  const sine = ["-f", "lavfi", "-i", "sine=duration=6:sample_rate=48000", "-c:a", "aac"];
  const whole = await makeClip("mp4", [...sine, "-movflags", "+faststart"]);
  const { source } = await probeFile(await cutOff(whole, "mp4", 0.5));
  expect([source.truncated, Math.round(source.duration ?? 0)]).toEqual([true, 3]);
});

test("the tracks of an MP4 that is cut off end with their own last packets", async () => {
  const endsOf = async (file: string) => {
    const { source } = await probeFile(file);
    return { duration: source.duration, ends: source.streams?.map(({ end }) => end) };
  };
  // 142 pictures begin in the file, of which the last is incomplete, beside 189 packets of sound.
  expect(await endsOf(await cutOff(await fragmented(), "mp4", 0.9))).toEqual({
    duration: 5.661406,
    ends: [5.661406, 4.032],
  });
  expect(await endsOf(await cutOff(await faststart(), "mp4", 0.6))).toEqual({
    duration: 3.52,
    ends: [3.52, 3.52],
  });
});

test("a transport stream whose clock wraps counts as one clock", async () => {
  const { source } = await probeFile(await wrappedClock());
  expect(source.duration).toBeCloseTo(6, 1);
  expect(source.restarted).toBeUndefined();
});

test("a large transport stream is sampled, and a restart makes its duration an estimate", async () => {
  const part = await readFile(await stream());
  const repeat = (count: number) => Buffer.concat(Array.from({ length: count }, () => part));
  const reader = bytesReader(repeat(60));
  const { source } = await probeFile(await joined("ts", [await stream(), await stream()]));
  const reads: number[] = [];
  const counting = {
    size: reader.size,
    read: (range: ByteRange, signal?: AbortSignal) => {
      reads.push(range.end - range.start);
      return reader.read(range, signal);
    },
  };
  const sampled = await measurePackets(counting, source, AbortSignal.timeout(20_000));
  expect(sampled).toMatchObject({ restarted: true, estimated: true });
  expect(reads.length).toBeLessThanOrEqual(13);
  const whole = await measureWhole(
    { ...source, duration_estimated: true },
    reader,
    AbortSignal.timeout(20_000),
  );
  expect(whole.duration).toBeCloseTo(360, 0);
  expect(whole.duration_estimated).toBeUndefined();
});

test.for(FILES)("the packets of a $name decide its duration", async ({ make, seconds }) => {
  const { source } = await probeFile(await make());
  expect(Math.abs((source.duration ?? 0) - seconds)).toBeLessThan(0.1);
  for (const { duration = seconds } of source.streams ?? [])
    expect(Math.abs(duration - seconds)).toBeLessThan(0.1);
});

test.for([
  {
    name: "cut out a part under a header that still states 6 s",
    edits: [
      { from: 0, seconds: 1.5 },
      { from: 3.5, seconds: 2.5 },
    ],
    stated: 6,
    seconds: 4,
  },
  {
    name: "begin with a second of nothing",
    edits: [
      { from: null, seconds: 1 },
      { from: 0, seconds: 3 },
    ],
    stated: 4,
    seconds: 3,
  },
])("a movie whose edits $name lasts as long as it plays", async ({ edits, stated, seconds }) => {
  const { source } = await probeFile(await editedMovie(edits, stated));
  expect(source.duration).toBeCloseTo(seconds, 2);
  for (const { duration } of source.streams ?? []) expect(duration).toBeCloseTo(seconds, 2);
});

test("the duration of an MP3 with a correct frame count is exact", async () => {
  const { source } = await probeFile(await miscounted(1, "-q:a", "4"));
  expect(source.duration).toBe(6.024);
});

test("a transport stream that ends with other streams is refused with that reason", async () => {
  await expect(probeFile(await changingPrograms())).rejects.toMatchObject({
    kind: "input_unsupported",
    message: expect.stringContaining("continues in other streams than it starts with"),
    reason: { code: "program_changes", change: "streams" },
  });
});

test("a transport stream that returns to its first streams is refused too", async () => {
  const path = await joined("ts", [await stream(256), await stream(512), await stream(256)]);
  await expect(probeFile(path)).rejects.toMatchObject({
    kind: "input_unsupported",
    message: expect.stringContaining("continues in other streams than it starts with"),
    reason: { code: "program_changes", change: "streams" },
  });
});

test("a transport stream whose identifiers switch streams is refused with that reason", async () => {
  await expect(probeFile(await exchangedStreams())).rejects.toMatchObject({
    kind: "input_unsupported",
    message: expect.stringContaining("changes the type of a stream midway"),
    reason: { code: "program_changes", change: "types" },
  });
});

test("a transport stream of two programs at once is read", async () => {
  const both = ["-i", await film("mp4"), "-map", "0", "-map", "0", "-c", "copy"];
  const programs = ["-program", "st=0:st=1", "-program", "st=2:st=3"];
  const { source } = await probeFile(await makeClip("ts", [...both, ...programs]));
  expect(source.streams?.filter(({ kind }) => kind === "video")).toHaveLength(2);
});

test("a transport stream whose sound ends in another stream is refused", async () => {
  await expect(probeFile(await changingSound())).rejects.toMatchObject({
    kind: "input_unsupported",
    message: expect.stringContaining("continues in other streams than it starts with"),
    reason: { code: "program_changes", change: "streams" },
  });
});

test.for([
  {
    name: "a gap between its parts",
    edit: { from: null, seconds: 1 },
    message: "leaves a gap between two parts",
  },
  { name: "a part at half the speed", edit: { from: 1, seconds: 2, rate: 0.5 }, message: "faster or slower" },
  { name: "a frozen picture", edit: { from: 1, seconds: 2, rate: 0 }, message: "freezes it" },
])("a movie whose edits have $name is refused with that reason", async ({ edit, message }) => {
  const path = await editedMovie([{ from: 0, seconds: 2 }, edit, { from: 3, seconds: 2 }]);
  await expect(probeFile(path)).rejects.toMatchObject({
    kind: "input_unsupported",
    message: expect.stringContaining(message),
  });
});
