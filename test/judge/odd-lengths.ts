import { readFile, writeFile } from "node:fs/promises";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";

const SECONDS = 6;
const PICTURES = ["-f", "lavfi", "-i", `testsrc2=size=320x240:rate=25:duration=${SECONDS}`];
const SOUND = ["-f", "lavfi", "-i", `sine=frequency=440:sample_rate=48000:duration=${SECONDS}`];
const SURROUND = [
  "-f",
  "lavfi",
  "-i",
  "aevalsrc=sin(440*t)|sin(550*t)|sin(660*t)|0|sin(880*t)|sin(990*t):c=5.1(side):s=48000:d=2",
];
const TRUEHD = ["-c:a", "truehd", "-strict", "-2"];
const H264 = ["-c:v", "libx264", "-preset", "veryfast", "-g", "50", "-bf", "0", "-c:a", "aac"];

/** TrueHD, whose packets of 0.83 ms are shorter than a tick of Matroska, alone or with pictures. */
export const truehd = () => makeClip("mkv", [...SURROUND, ...TRUEHD]);
export const truehdFilm = () =>
  makeClip("mkv", [...SURROUND, ...PICTURES, "-t", "2", "-c:v", "libx264", "-preset", "veryfast", ...TRUEHD]);

/** A clip of 6 s. */
export const film = (extension: "mp4" | "mkv" | "mov" | "flv") =>
  makeClip(extension, [...PICTURES, ...SOUND, ...H264]);

/** The film in an MP4 whose index comes first, or in fragments of 2 s. */
export const faststart = async () =>
  makeClip("mp4", ["-i", await film("mp4"), "-c", "copy", "-movflags", "+faststart"]);
export const fragmented = async () =>
  makeClip("mp4", ["-i", await film("mp4"), "-c", "copy", "-movflags", "+frag_keyframe+empty_moov"]);

export const indexedFragments = async () =>
  makeClip("mp4", [
    "-i",
    await fragmented(),
    "-c",
    "copy",
    "-movflags",
    "+frag_keyframe+empty_moov+dash+global_sidx",
  ]);

/** The film from 0.5 s on, cut by a copy, which keeps the packets before it and hides them by an edit list. */
export const copiedPart = async () => makeClip("mp4", ["-ss", "0.5", "-i", await film("mp4"), "-c", "copy"]);

/** A film of 2 s in Matroska or fragmented MP4 whose sound must be encoded for an MP4, while its pictures can be copied. */
export async function filmWithAc3(extension: "mkv" | "mp4"): Promise<string> {
  const short = ["-i", await film("mkv"), "-t", "2", "-c:v", "copy", "-c:a", "ac3"];
  return makeClip(extension, [...short, "-movflags", "+frag_keyframe+empty_moov+delay_moov"]);
}

/** The bytes of files, one after the other. */
export function joined(extension: string, paths: readonly string[]): Promise<string> {
  return keepClip(extension, JSON.stringify(["joined", paths]), async (to) =>
    writeFile(to, Buffer.concat(await Promise.all(paths.map((path) => readFile(path))))),
  );
}

/** A transport stream that shows the film, with its packets from an identifier on. */
export const stream = async (pid = 256) =>
  makeClip("ts", ["-i", await film("mp4"), "-c", "copy", "-mpegts_start_pid", `${pid}`]);

/** A program stream that shows the film. */
export const programStream = () =>
  makeClip("mpg", [...PICTURES, ...SOUND, "-c:v", "mpeg2video", "-g", "12", "-bf", "0", "-c:a", "mp2"]);

/** A transport stream whose pictures and sound exchange their packet identifiers midway. */
export async function exchangedStreams(): Promise<string> {
  const other = ["-i", await film("mp4"), "-c", "copy", "-streamid", "0:257", "-streamid", "1:256"];
  return joined("ts", [await stream(), await makeClip("ts", other)]);
}

/** A transport stream whose 33-bit clock starts again at zero midway. */
export const wrappedClock = async () =>
  makeClip("ts", ["-i", await film("mp4"), "-c", "copy", "-output_ts_offset", "95440"]);

/** Sound of 6 s in Ogg. */
export const vorbis = (channels = 1) =>
  makeClip("ogg", [...SOUND, "-c:a", "libvorbis", "-ac", `${channels}`]);

/** A transport stream of two recordings, one after the other, whose streams have other numbers. */
export async function changingPrograms(): Promise<string> {
  const first = ["-i", await film("mp4"), "-c", "copy", "-mpegts_start_pid", "256"];
  const second = [
    "-i",
    await film("mp4"),
    "-c",
    "copy",
    "-mpegts_start_pid",
    "512",
    "-output_ts_offset",
    "6",
  ];
  return joined("ts", [await makeClip("ts", first), await makeClip("ts", second)]);
}

/** A transport stream whose pictures go on while its sound moves to a stream of another number. */
export async function changingSound(): Promise<string> {
  const first = ["-i", await film("mp4"), "-c", "copy", "-streamid", "0:256", "-streamid", "1:257"];
  const second = ["-i", await film("mp4"), "-c", "copy", "-streamid", "0:256", "-streamid", "1:258"];
  return joined("ts", [await makeClip("ts", first), await makeClip("ts", second)]);
}

/** Matroska whose first packet is at 100 s; some writers state no end of each track. */
export async function lateMatroska(tagged: boolean): Promise<string> {
  const late = ["-i", await film("mkv"), "-c", "copy", "-output_ts_offset", "100", "-copyts"];
  const path = await makeClip("mkv", late);
  if (tagged) return path;
  return rewritten(path, "mkv", "without-ends", (file) => replaceAll(file, "DURATION", "XURATION"));
}

/** An FLV whose first packet is at 50 s; its header states when the last one ends. */
export async function lateFlv(): Promise<string> {
  return makeClip("flv", ["-i", await film("flv"), "-c", "copy", "-output_ts_offset", "50"]);
}

/** A fragmented MP4 with unknown durations, which ISO/IEC 14496-12 writes as all ones. */
export async function unknownDurations(): Promise<string> {
  const fragmented = ["-i", await film("mp4"), "-c", "copy", "-movflags", "+frag_keyframe+empty_moov"];
  return rewritten(await makeClip("mp4", fragmented), "mp4", "all-ones", (file) => {
    for (let at = file.indexOf("mdhd"); at >= 0; at = file.indexOf("mdhd", at + 4))
      file.fill(0xff, at + 20, at + 24);
    return file;
  });
}

/** The same in all headers that state one, in 64 bits. */
export async function unknownLongDurations(): Promise<string> {
  const flags = ["-movflags", "+frag_keyframe+empty_moov+default_base_moof"];
  const path = await makeClip("mp4", ["-i", await film("mp4"), "-c", "copy", ...flags]);
  return rewritten(path, "mp4", "all-ones-64", (file) =>
    Buffer.concat(
      boxes(file, 0, file.length).map(({ start, end }) => withLongDurations(file.subarray(start, end))),
    ),
  );
}

// ISO/IEC 14496-12: in version 1, times and durations have 64 bits. Bytes between the times and the duration.
const TIMED: Readonly<Record<string, number>> = { mvhd: 4, mdhd: 4, tkhd: 8 };
const NESTED: ReadonlySet<string> = new Set(["moov", "trak", "mdia", "mvex"]);

function withLongDurations(box: Buffer): Buffer {
  const kind = box.toString("latin1", 4, 8);
  const ones = Buffer.alloc(8, 0xff);
  if (NESTED.has(kind)) {
    const mehd = kind === "mvex" ? [boxOf("mehd", Buffer.from([1, 0, 0, 0]), ones)] : [];
    const inside = boxes(box, 8, box.length).map(({ start, end }) =>
      withLongDurations(box.subarray(start, end)),
    );
    return boxOf(kind, ...mehd, ...inside);
  }
  const between = TIMED[kind];
  if (between === undefined) return box;
  const [zeros, times] = [Buffer.alloc(4), [box.subarray(12, 16), box.subarray(16, 20)]];
  const version = Buffer.from([1, ...box.subarray(9, 12)]);
  const middle = box.subarray(20, 20 + between);
  return boxOf(
    kind,
    version,
    ...times.flatMap((time) => [zeros, time]),
    middle,
    ones,
    box.subarray(24 + between),
  );
}

/** An MP4 in which some headers state a timescale of 0. */
export async function timelessMovie(path: string, kind: "mvhd" | "mdhd" | "sidx"): Promise<string> {
  return rewritten(path, "mp4", `timeless-${kind}`, (file) => {
    for (let at = file.indexOf(kind); at >= 0; at = file.indexOf(kind, at + 4))
      file.writeUInt32BE(0, at + (kind === "sidx" ? 12 : 16));
    return file;
  });
}

/** An MP3 of 6 s whose first frame counts so many times its frames. */
export async function miscounted(times: number, ...rate: string[]): Promise<string> {
  const path = await makeClip("mp3", [...SOUND, "-c:a", "libmp3lame", ...rate]);
  return rewritten(path, "mp3", `times-${times}`, (file) => {
    const at = Math.max(file.indexOf("Xing"), file.indexOf("Info")) + 8;
    file.writeUInt32BE(Math.round(file.readUInt32BE(at) * times), at);
    return file;
  });
}

/** An edit: what it shows of the media, in seconds. */
export interface Shown {
  /** Start of the cut in seconds; null for none. */
  from: number | null;
  seconds: number;
  /** Playback speed; 1 when absent. */
  rate?: number;
}

/** A MOV of 6 s with PCM sound whose tracks show only these parts, in this order. */
export async function editedMovie(edits: readonly Shown[], stated?: number): Promise<string> {
  const sound = ["-c:v", "libx264", "-preset", "veryfast", "-bf", "0", "-g", "5", "-c:a", "pcm_s16le"];
  const path = await makeClip("mov", [...PICTURES, ...SOUND, ...sound]);
  return rewritten(path, "mov", JSON.stringify([edits, stated]), (file) => withEdits(file, edits, stated));
}

/** A film of 6 s whose edit list plays only these parts of the sound, in this order. */
export const editedSound = async (edits: readonly Shown[]) =>
  rewritten(await film("mp4"), "mp4", JSON.stringify(["sound", edits]), (file) =>
    withEdits(file, edits, 6, "soun"),
  );

/** A film whose index comes last and whose tracks show only these parts. */
export const editedFilm = (path: string, edits: readonly Shown[]) =>
  rewritten(path, "mp4", JSON.stringify(edits), (file) => withEdits(file, edits));

/** Sound of 6 s. */
export const sound = (extension: "wav" | "aiff" | "flac" | "mp3", ...codec: string[]) =>
  makeClip(extension, [...SOUND, ...codec]);

/** Noise of 6 s in frames of a variable bitrate. */
export const noise = () =>
  makeClip("mp3", [
    "-f",
    "lavfi",
    "-i",
    "anoisesrc=d=6:a=0.3:r=48000:seed=7",
    "-c:a",
    "libmp3lame",
    "-q:a",
    "4",
  ]);

/** A film of 6 s in AVI. */
export const avi = () => makeClip("avi", [...PICTURES, ...SOUND, "-c:v", "mpeg4", "-c:a", "libmp3lame"]);

/** A clip whose bytes `change` rewrites; the name tells it from others of the same path. */
export function rewritten(
  path: string,
  extension: string,
  name: string,
  change: (file: Buffer) => Buffer,
): Promise<string> {
  return keepClip(extension, JSON.stringify([path, name]), async (to) =>
    writeFile(to, change(await readFile(path))),
  );
}

/** Replaces a text in a file by another of the same length. */
export function replaceAll(file: Buffer, from: string, to: string): Buffer {
  for (let at = file.indexOf(from); at >= 0; at = file.indexOf(from, at + 1)) file.write(to, at, "latin1");
  return file;
}

// The index is the last box, so that it may grow.
function withEdits(file: Buffer, edits: readonly Shown[], stated?: number, handler = ""): Buffer {
  const moov = boxes(file, 0, file.length).find(({ kind }) => kind === "moov");
  if (!moov || moov.end !== file.length) throw new Error("The index is not the last box.");
  const inside = boxes(file, moov.start + 8, moov.end);
  const mvhd = inside.find(({ kind }) => kind === "mvhd");
  const ticks = file.readUInt32BE((mvhd?.start ?? 0) + 20);
  const total = ticks * (stated ?? edits.reduce((sum, { seconds }) => sum + seconds, 0));
  const parts = inside.map(({ kind, start, end }) => {
    const own = Buffer.from(file.subarray(start, end));
    if (kind === "mvhd") own.writeUInt32BE(Math.round(total), 24);
    return kind === "trak" && own.includes(handler) ? withTrackEdits(own, edits, ticks, total) : own;
  });
  return Buffer.concat([file.subarray(0, moov.start), boxOf("moov", ...parts)]);
}

function withTrackEdits(trak: Buffer, edits: readonly Shown[], ticks: number, total: number): Buffer {
  const scale = trak.readUInt32BE(trak.indexOf("mdhd") + 16);
  const entries = edits.map(({ from, seconds, rate = 1 }) => {
    const entry = Buffer.alloc(12);
    entry.writeUInt32BE(Math.round(seconds * ticks), 0);
    entry.writeInt32BE(from === null ? -1 : Math.round(from * scale), 4);
    entry.writeUInt32BE(rate * 0x10000, 8);
    return entry;
  });
  const count = Buffer.alloc(8);
  count.writeUInt32BE(edits.length, 4);
  const edts = boxOf("edts", boxOf("elst", count, ...entries));
  const parts = boxes(trak, 8, trak.length).flatMap(({ kind, start, end }) => {
    const own = trak.subarray(start, end);
    if (kind === "tkhd") own.writeUInt32BE(Math.round(total), 28);
    return kind === "edts" ? [] : kind === "tkhd" ? [own, edts] : [own];
  });
  return boxOf("trak", ...parts);
}

/** Lists the boxes of an MP4 within a range. */
export function boxes(
  file: Buffer,
  from: number,
  to: number,
): { kind: string; start: number; end: number }[] {
  const spans: { kind: string; start: number; end: number }[] = [];
  for (let at = from; at + 8 <= to; ) {
    const size = file.readUInt32BE(at);
    spans.push({ kind: file.toString("latin1", at + 4, at + 8), start: at, end: at + size });
    at += size;
  }
  return spans;
}

/** Makes a box of an MP4. */
export function boxOf(kind: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(kind, 4, "latin1");
  return Buffer.concat([head, body]);
}

/**
 * Adds EXIF data with a thumbnail, a JPEG within the JPEG, and fill bytes before two markers to each picture of ffmpeg's raw Motion JPEG;
 * every second picture loses its end marker.
 */
export async function withOddMarkers(path: string): Promise<string> {
  const small = await makeClip("jpg", ["-i", path, "-frames:v", "1", "-vf", "scale=32:20"]);
  const thumbnail = await readFile(small);
  // TIFF 6.0, 2: the first directory is empty, the second says where the thumbnail is and how long.
  const tiff = Buffer.alloc(44);
  tiff.write("MM\0*", "latin1");
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt32BE(14, 10);
  tiff.writeUInt16BE(2, 14);
  for (const [index, [tag, value]] of [
    [0x0201, 44] as const,
    [0x0202, thumbnail.length] as const,
  ].entries()) {
    const entry = 16 + 12 * index;
    tiff.writeUInt16BE(tag, entry);
    tiff.writeUInt16BE(4, entry + 2);
    tiff.writeUInt32BE(1, entry + 4);
    tiff.writeUInt32BE(value, entry + 8);
  }
  const exif = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff, thumbnail]);
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xff, 0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(exif.length + 2, 6);
  const fill = Buffer.from([0xff, 0xff]);
  return rewritten(path, "bin", "thumbnails and fill", (file) => {
    const starts: number[] = [];
    for (let at = file.indexOf("ffd8", "hex"); at >= 0; at = file.indexOf("ffd8", at + 1, "hex"))
      starts.push(at);
    return Buffer.concat(
      starts.flatMap((at, index) => {
        const data = file.subarray(at + 2, starts[index + 1]);
        return [head, exif, ...(index % 2 === 1 ? [data.subarray(0, -2)] : [data, fill])];
      }),
    );
  });
}
