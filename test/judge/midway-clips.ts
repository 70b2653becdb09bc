import { readFile, writeFile } from "node:fs/promises";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { numberedClip } from "../integrity/numbered.ts";
import { boxes, boxOf } from "./odd-lengths.ts";

/** A clip of 3 s of red pictures and 3 s of blue and larger ones, ten a second. */
export async function resizedClip(extension: "webm" | "ts"): Promise<string> {
  const codec = extension === "webm" ? "-c:v libvpx -b:v 200k" : "-c:v libx264 -preset ultrafast -bf 0";
  const [red, blue] = await Promise.all(
    ["red:size=64x48", "blue:size=96x72"].map((color) =>
      makeClip(extension, [
        ...["-f", "lavfi", "-i", `color=${color}:rate=10:duration=3`, "-pix_fmt", "yuv420p"],
        ...[...codec.split(" "), "-g", "10"],
      ]),
    ),
  );
  const list = await keepClip("txt", `${red} ${blue}`, (path) =>
    writeFile(path, `file ${red}\nfile ${blue}\n`),
  );
  return makeClip(extension, ["-f", "concat", "-safe", "0", "-i", list, "-c", "copy"]);
}

/** The halves of a {@link relaidClip}, in seconds, and its pictures a second. */
export const RELAID = { seconds: 12, change: 6.15, fps: 25 } as const;

/**
 * A numbered clip in a transport stream whose sound, AC-3, begins `late` seconds after its pictures, and changes from stereo to six
 * channels in the middle, or from six to stereo that is `quieter` by decibels.
 */
export async function relaidClip({ late = 0, quieter = 0 } = {}): Promise<string> {
  const { seconds, change, fps } = RELAID;
  const codec = "-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p";
  const whole = await numberedClip({ container: "mkv", frames: seconds * fps, codec, sound: "flac" });
  const six = "pan=5.1|FL=FL|FR=FR|FC=FL|BL=FL|BR=FR";
  const [before, after] = quieter ? [six, `volume=-${quieter}dB`] : ["anull", six];
  const sound = (from: number, to: number, filter: string) =>
    makeClip("ac3", ["-i", whole, "-vn", "-af", `atrim=${from}:${to},${filter}`, "-c:a", "ac3"]);
  const parts = await Promise.all([sound(late, change, before), sound(change, seconds, after)]);
  const joined = await keepClip("ac3", parts.join(" "), async (path) =>
    writeFile(path, Buffer.concat(await Promise.all(parts.map((part) => readFile(part))))),
  );
  return makeClip("ts", [
    ...["-i", whole, "-itsoffset", String(late), "-i", joined],
    ...["-map", "0:v", "-map", "1:a", "-c", "copy"],
  ]);
}

const RED_BLUE = ["red:size=64x48", "blue:size=96x72"].map((color) =>
  ["-f", "lavfi", "-i", `color=${color}:rate=10:duration=3`, "-pix_fmt", "yuv420p", "-g", "1"].concat(
    "-c:v libx264 -preset ultrafast -video_track_timescale 10000".split(" "),
  ),
);
const TONE = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=3"];
const LAYOUTS = ["-ar 48000 -ac 2", "-ar 44100 -ac 1"].map((layout) => [...TONE, ...layout.split(" ")]);

/** An MP4 of 6 s with one sample description for each half: red pictures and larger blue ones, or stereo and mono of a lower rate. */
export async function describedTwice(kind: "pictures" | "sound"): Promise<string> {
  const args = kind === "pictures" ? RED_BLUE : LAYOUTS.map((layout) => [...layout, "-c:a", "aac"]);
  const halves = await Promise.all(args.map((each) => makeClip("mp4", each)));
  return keepClip("mp4", `described ${halves.join(" ")}`, async (path) => {
    const files = await Promise.all(halves.map((half) => readFile(half)));
    await writeFile(path, joinDescribed(files));
  });
}

const BARE = {
  aac: "-c:a aac",
  mp3: "-c:a libmp3lame -write_xing 0 -id3v2_version 0",
  ogg: "-c:a libvorbis",
} as const;

/** A file of bare frames or an Ogg of 6 s: stereo, then mono of a lower rate, or the other way around. */
export async function relaidSound(extension: keyof typeof BARE, reversed = false): Promise<string> {
  const layouts = reversed ? LAYOUTS.toReversed() : LAYOUTS;
  const halves = await Promise.all(
    layouts.map((layout) => makeClip(extension, [...layout, ...BARE[extension].split(" ")])),
  );
  return keepClip(extension, `relaid ${halves.join(" ")}`, async (path) =>
    writeFile(path, Buffer.concat(await Promise.all(halves.map((half) => readFile(half))))),
  );
}

/** A transport stream of 6 s, with pictures, whose AAC changes midway from stereo to mono at a lower rate. */
export async function relaidStream(): Promise<string> {
  const pictures = ["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=3"];
  const codec = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 25 -c:a aac".split(" ");
  const halves = await Promise.all(
    LAYOUTS.map((layout, index) =>
      makeClip("ts", [...pictures, ...layout, ...codec, "-output_ts_offset", `${3 * index}`]),
    ),
  );
  return keepClip("ts", `relaid ${halves.join(" ")}`, async (path) =>
    writeFile(path, Buffer.concat(await Promise.all(halves.map((half) => readFile(half))))),
  );
}

const PICTURES = ["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=6"];
const H264 = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 25";
const MPEG2 = "-c:v mpeg2video -q:v 4 -g 12";
const MP3 = "-c:a libmp3lame -write_xing 0 -id3v2_version 0";
const HALVED = ["-ar 48000 -ac 2", "-ar 24000 -ac 2"].map((layout) => [...TONE, ...layout.split(" ")]);

/** Films of 6 s whose sound changes its channels and its rate midway, or only its rate to half of it. */
export const RELAID_FILMS = {
  "AC-3 in Matroska": { container: "mkv", pictures: H264, sound: "ac3", codec: "-c:a ac3", layouts: LAYOUTS },
  "MP3 in Matroska": { container: "mkv", pictures: H264, sound: "mp3", codec: MP3, layouts: HALVED },
  "layer II in a transport stream": {
    ...{ container: "ts", pictures: H264, sound: "mp2", codec: "-c:a mp2" },
    layouts: HALVED,
  },
  "layer II in a program stream": {
    ...{ container: "mpg", pictures: MPEG2, sound: "mp2", codec: "-c:a mp2" },
    layouts: LAYOUTS,
  },
} as const;

export async function relaidFilm(name: keyof typeof RELAID_FILMS): Promise<string> {
  const { container, pictures, sound, codec, layouts } = RELAID_FILMS[name];
  const halves = await Promise.all(
    layouts.map((layout) => makeClip(sound, [...layout, ...codec.split(" ")])),
  );
  const joined = await keepClip(sound, `relaid ${halves.join(" ")}`, async (path) =>
    writeFile(path, Buffer.concat(await Promise.all(halves.map((half) => readFile(half))))),
  );
  return makeClip(container, [
    ...[...PICTURES, "-i", joined, "-map", "0:v", "-map", "1:a"],
    ...[...pictures.split(" "), "-c:a", "copy"],
  ]);
}

const ALTERNATING = {
  ac3: "-c:a ac3",
  mp3: "-c:a libmp3lame -write_xing 0 -id3v2_version 0",
} as const;

/** The rising tone of numbered clips, 8 s long, whose frames change from stereo to mono of a lower rate and back every two seconds. */
export async function alternatingSound(extension: keyof typeof ALTERNATING): Promise<string> {
  const codec = "-c:v libx264 -preset ultrafast -pix_fmt yuv420p";
  const whole = await numberedClip({ container: "mkv", frames: 8 * RELAID.fps, codec, sound: "flac" });
  const layouts = ["-ar 48000 -ac 2", "-ar 44100 -ac 1"];
  const parts = await Promise.all(
    [0, 2, 4, 6].map((from, index) =>
      makeClip(extension, [
        ...["-i", whole, "-vn", "-af", `atrim=${from}:${from + 2}`],
        ...`${layouts[index % 2]} ${ALTERNATING[extension]}`.split(" "),
      ]),
    ),
  );
  return keepClip(extension, `alternating ${parts.join(" ")}`, async (path) =>
    writeFile(path, Buffer.concat(await Promise.all(parts.map((part) => readFile(part))))),
  );
}

const TABLES = /^(stsd|stts|stsc|stsz|stco|ctts|stss|sgpd|sbgp)$/;
const DURATIONS: Readonly<Record<string, number>> = { mvhd: 24, tkhd: 28, mdhd: 24 };
const NESTED = /^(moov|trak|mdia|minf|stbl)$/;

// ISO/IEC 14496-12, 8.5 to 8.7: each file has one track without edits, whose samples follow each other.
function joinDescribed(files: readonly Buffer[]): Buffer {
  const find = (file: Buffer, kind: string) => file.subarray(file.indexOf(kind) - 4);
  const contentOf = (file: Buffer, kind: string) => {
    const box = find(file, kind);
    return box.subarray(8, box.readUInt32BE(0));
  };
  const u32 = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [index, value] of values.entries()) bytes.writeUInt32BE(Math.round(value), 4 * index);
    return bytes;
  };
  const [first] = files as [Buffer];
  const ticks = files.map((file) => contentOf(file, "mdhd").readUInt32BE(12));
  const counts = files.map((file) => contentOf(file, "stsz").readUInt32BE(8));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const deltas = files.map(
    (file, index) => (contentOf(file, "stts").readUInt32BE(12) * (ticks[0] ?? 1)) / (ticks[index] ?? 1),
  );
  const media = files.map((file) => contentOf(file, "mdat"));
  const header = find(first, "ftyp").subarray(0, find(first, "ftyp").readUInt32BE(0));
  const places = media.map((_, index) => {
    const before = media.slice(0, index).reduce((sum, each) => sum + each.length, 0);
    return header.length + 8 + before;
  });
  const descriptions = files.map((file) => contentOf(file, "stsd").subarray(8));
  const tables = [
    boxOf("stsd", u32(0, files.length), ...descriptions),
    boxOf("stts", u32(0, files.length, ...counts.flatMap((count, index) => [count, deltas[index] ?? 0]))),
    boxOf("stsc", u32(0, files.length, ...counts.flatMap((count, index) => [index + 1, count, index + 1]))),
    boxOf("stsz", u32(0, 0, total), ...files.map((file) => contentOf(file, "stsz").subarray(12))),
    boxOf("stco", u32(0, files.length, ...places)),
  ];
  const rebuild = (box: Buffer): Buffer => {
    const kind = box.toString("latin1", 4, 8);
    const duration = DURATIONS[kind];
    if (duration) box.writeUInt32BE(box.readUInt32BE(duration) * files.length, duration);
    if (!NESTED.test(kind)) return box;
    const parts = boxes(box, 8, box.length).map(({ start, end }) => box.subarray(start, end));
    const own = parts.filter((part) => !/^(edts|udta)$/.test(part.toString("latin1", 4, 8)));
    const plain = own.filter((part) => !TABLES.test(part.toString("latin1", 4, 8))).map(rebuild);
    return boxOf(kind, ...plain, ...(kind === "stbl" ? tables : []));
  };
  const moov = find(first, "moov");
  return Buffer.concat([header, boxOf("mdat", ...media), rebuild(moov.subarray(0, moov.readUInt32BE(0)))]);
}
