import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { z } from "zod";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { runProgram } from "../fixtures/native-program.ts";
import { remember } from "./remember.ts";

const tags = z.record(z.string(), z.string()).default({});
const Probed = z.object({
  format: z.object({ format_name: z.string(), tags }),
  streams: z.array(
    z.object({
      index: z.number(),
      codec_type: z.string(),
      tags,
      disposition: z.object({ attached_pic: z.number() }),
    }),
  ),
});

/** Reads a file as it is now, once for all that is asked of it. */
async function readOnce<T>(path: string, what: string, read: () => Promise<T>): Promise<T> {
  const { mtimeMs, size } = await stat(path);
  return remember([path, mtimeMs, size, what], read);
}

const probe = (path: string) =>
  readOnce(path, "streams and tags", async () => Probed.parse(await runFfprobe(path)));

// Tags that muxers write themselves.
const OWN =
  /^(encoder|duration|major_brand|minor_version|compatible_brands|handler_name|vendor_id|language|creation_time|location-eng)$/;

/** Reads a file's tags with native ffprobe, and those of Ogg's only stream: names in lower case, without the muxers' own. */
export async function readFileTags(path: string): Promise<Record<string, string>> {
  return Object.fromEntries((await allTags(path)).filter(([name]) => !OWN.test(name)));
}

export async function readCreationTime(path: string): Promise<string | undefined> {
  return Object.fromEntries(await allTags(path)).creation_time;
}

async function allTags(path: string): Promise<[name: string, value: string][]> {
  const { format, streams } = await probe(path);
  const audioStreams = streams.filter(
    ({ codec_type }) => codec_type === "audio" && format.format_name === "ogg",
  );
  const all = [
    ...audioStreams.flatMap((stream) => Object.entries(stream.tags)),
    ...Object.entries(format.tags),
  ];
  return all.map(([name, value]) => [name.toLowerCase(), value]);
}

const Chaptered = z.object({
  chapters: z.array(
    z.object({ start_time: z.string(), end_time: z.string(), tags: z.object({ title: z.string() }) }),
  ),
});

/** Reads a file's chapters with native ffprobe: `1.000 to 3.0 Title`; the end of the last one is that of the file. */
export async function readChapters(path: string): Promise<string[]> {
  const { chapters } = Chaptered.parse(await runFfprobe(path, ["-show_chapters"]));
  return chapters.map(
    ({ start_time, end_time, tags: { title } }) =>
      `${Number(start_time).toFixed(3)} to ${Number(end_time).toFixed(1)} ${title}`,
  );
}

/** Hashes each cover of a file as native ffmpeg extracts it. */
export async function readCovers(path: string): Promise<string[]> {
  const { streams } = await probe(path);
  const covers = streams.filter(({ disposition }) => disposition.attached_pic === 1);
  return Promise.all(
    covers.map(({ index }) =>
      readOnce(path, `cover ${index}`, async () => {
        const args = ["-v", "error", "-i", path, "-map", `0:${index}`, "-c", "copy", "-f", "image2pipe", "-"];
        const { stdout } = await runProgram("ffmpeg", args, 60_000);
        return createHash("sha256").update(stdout).digest("hex");
      }),
    ),
  );
}

/** The descriptive tags of every tagged clip. */
export const WORK = {
  title: "Morgenröte",
  artist: "The Testers",
  album: "Signals",
  track: "3/9",
  date: "2020-05-04",
  genre: "Jazz",
  comment: "made here",
};
export const LOCATION = "+48.8577+002.2950/";
export const MADE = "2020-05-04T10:11:12.000000Z";
const PRIVATE = { location: LOCATION, make: "Acme", model: "Cam 7", creation_time: MADE };
const tagArgs = Object.entries({ ...WORK, ...PRIVATE }).flatMap(([name, value]) => [
  "-metadata",
  `${name}=${value}`,
]);

const COVER = ["-f", "lavfi", "-i", "testsrc2=s=300x300:d=1:r=1"];
const COVER_OUT = ["-c:v", "mjpeg", "-frames:v", "1", "-disposition:v", "attached_pic"];
const noise = (seconds: number) => ["-f", "lavfi", "-i", `anoisesrc=seed=1:d=${seconds}:a=0.2:r=48000`];
const pictures = (seconds: number) => ["-f", "lavfi", "-i", `testsrc2=s=320x240:d=${seconds}:r=25`];

/** Makes sound with tags, a location and, except in WAV and Ogg, a cover. */
export function taggedSound(extension: "flac" | "mp3" | "ogg" | "m4a" | "wav", seconds = 3): Promise<string> {
  if (extension === "wav" || extension === "ogg") return makeClip(extension, [...noise(seconds), ...tagArgs]);
  return makeClip(extension, [
    ...noise(seconds),
    ...COVER,
    "-map",
    "0:a",
    "-map",
    "1:v",
    ...COVER_OUT,
    ...tagArgs,
  ]);
}

/** Makes video and sound with tags, a location and, in MP4, a cover. */
export function taggedVideo(extension: "mp4" | "mov" | "webm" | "mkv", seconds = 3): Promise<string> {
  const codecs =
    extension === "webm"
      ? ["-c:v:0", "libvpx", "-deadline", "realtime", "-c:a", "libopus"]
      : ["-c:v:0", "libx264", "-preset", "ultrafast", "-pix_fmt:v:0", "yuv420p", "-c:a", "aac"];
  const inputs = [...pictures(seconds), ...noise(seconds)];
  const maps = ["-map", "0:v", "-map", "1:a"];
  if (extension !== "mp4") return makeClip(extension, [...inputs, ...maps, ...codecs, ...tagArgs]);
  const cover = ["-map", "2:v", "-c:v:1", "mjpeg", "-frames:v:1", "1", "-disposition:v:1", "attached_pic"];
  return makeClip(extension, [...inputs, ...COVER, ...maps, ...cover, ...codecs, ...tagArgs]);
}

const part = (start: number, end: number, title: string) =>
  `[CHAPTER]\nTIMEBASE=1/1\nSTART=${start}\nEND=${end}\ntitle=${title}\n`;
const chaptersAt = (start: number) => {
  const parts = `;FFMETADATA1\n${part(start, start + 1, "Dawn")}${part(start + 1, start + 3, "Zwölf Uhr")}`;
  return `data:text/plain;base64,${Buffer.from(parts).toString("base64")}`;
};
const CHAPTERS = chaptersAt(0);
const TITLES = `data:text/plain;base64,${btoa("1\n00:00:00,000 --> 00:00:02,000\nHello\n")}`;

/** Makes video with 5.1 sound, a second audio stream, subtitles and two chapters. */
export function crowdedVideo(extension: "mp4" | "mkv"): Promise<string> {
  return makeClip(extension, [
    ...[
      ...pictures(3),
      "-f",
      "lavfi",
      "-i",
      "anoisesrc=seed=1:d=3:a=0.2:r=48000,pan=5.1|c0=c0|c1=c0|c2=c0|c3=c0|c4=c0|c5=c0",
    ],
    ...[...noise(3), "-f", "srt", "-i", TITLES, "-f", "ffmetadata", "-i", CHAPTERS],
    ...["-map", "0:v", "-map", "1:a", "-map", "2:a", "-map", "3:s", "-map_chapters", "4"],
    ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac"],
    ...["-c:s", extension === "mp4" ? "mov_text" : "srt", "-metadata:s:s:0", "language=deu"],
    ...["-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=fra"],
  ]);
}

/** Makes the crowded video whose pictures, sound and text all begin at 10 seconds, in Matroska the chapters too. */
export async function lateVideo(extension: "mp4" | "mkv" = "mkv"): Promise<string> {
  const chapters = chaptersAt(extension === "mkv" ? 10 : 0);
  return makeClip(extension, [
    ...["-i", await crowdedVideo(extension), "-f", "ffmetadata", "-i", chapters],
    ..."-map 0 -map_chapters 1 -c copy -output_ts_offset 10".split(" "),
  ]);
}

/** Makes sound with two chapters; in MP4 the track alone has titles, all of one length. */
export function chapteredSound(extension: "mp3" | "flac" | "ogg" | "m4a"): Promise<string> {
  if (extension === "flac" || extension === "ogg") {
    // ffmpeg writes none into these by itself.
    const comments = ["000=00:00:00.000", "000NAME=Dawn", "001=00:00:01.000", "001NAME=Zwölf Uhr"];
    return makeClip(extension, [...noise(3), ...comments.flatMap((each) => ["-metadata", `CHAPTER${each}`])]);
  }
  const alike = `;FFMETADATA1\n${part(0, 1, "Dawn")}${part(1, 3, "Noon")}`;
  const chapters = extension === "m4a" ? `data:text/plain;base64,${btoa(alike)}` : CHAPTERS;
  const track = extension === "m4a" ? ["-movflags", "disable_chpl"] : [];
  return makeClip(extension, [
    ...[...noise(3), "-f", "ffmetadata", "-i", chapters, "-map_chapters", "1", ...track],
  ]);
}
