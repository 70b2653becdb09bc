import { rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { keepClip, makeClip, runFfmpeg, runFfprobe } from "../fixtures/make-clip.ts";
import { runProgram } from "../fixtures/native-program.ts";

const Probed = z.object({
  streams: z.array(z.object({ codec_type: z.string(), start_time: z.string().optional() })),
});

/**
 * Reads a text track with native ffmpeg, as `start end text` for each cue: seconds from the first picture, and text with the tags
 * of SubRip, a slash between its lines.
 */
export async function readCues(path: string, track: number): Promise<string[]> {
  const { streams } = Probed.parse(await runFfprobe(path));
  const first = Number(streams.find(({ codec_type }) => codec_type === "video")?.start_time ?? 0);
  const args = ["-v", "error", "-copyts", "-i", path, "-map", `0:s:${track}`, "-f", "srt", "-"];
  const { stdout } = await runProgram("ffmpeg", args, 60_000);
  // Adding 0 takes the sign from one that is rounded to it.
  const textOf = (time: number) => (Math.round((time - first) * 1000) / 1000 + 0).toFixed(3);
  return parseCues(stdout.toString()).map(
    ({ start, end, text }) => `${textOf(start)} ${textOf(end)} ${text}`,
  );
}

function parseCues(text: string): { start: number; end: number; text: string }[] {
  const blocks = text.trim().split(/\r?\n\r?\n/);
  return blocks.filter(Boolean).map((block) => {
    const [, times = "", ...lines] = block.split(/\r?\n/);
    const [start = 0, end = 0] = times.split(" --> ").map(secondsOf);
    return { start, end, text: lines.join("/") };
  });
}

function secondsOf(clock: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = clock.replace(",", ".").split(":").map(Number);
  return hours * 3600 + minutes * 60 + seconds;
}

const inline = (text: string) => `data:text/plain;base64,${Buffer.from(text).toString("base64")}`;
const SUBRIP = `1
00:00:00,500 --> 00:00:01,500
Hello <i>it</i> & <b>bo</b>

2
00:00:01,500 --> 00:00:02,123
{\\an8}Two
lines äöü 😀

3
00:00:03,001 --> 00:00:03,999
<font color="#ff0000">red</font>
`;
const ASS = `[Script Info]
ScriptType: v4.00+
[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, Alignment, Encoding
Style: Default,Arial,16,&Hffffff,2,0
[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:00.50,0:00:02.00,Default,,0,0,0,,{\\i1}Kursiv{\\i0}, und\\Nzwei
Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,Overlap, {\\fad(100,100)}late
Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,{\\p1}m 0 0 l 100 0{\\p0}
`;
const WEBVTT = "WEBVTT\n\n00:00.250 --> 00:01.750 line:0\nTop &amp; <v Bob>Bob</v>\n";

/** Makes four seconds of video with text tracks in SubRip, ASS and WebVTT; in an MP4, of the first alone. */
export function captionedVideo(extension: "mkv" | "mp4"): Promise<string> {
  const texts = [SUBRIP, ASS, WEBVTT].slice(0, extension === "mkv" ? 3 : 1);
  const codecs = extension === "mkv" ? ["srt", "ass", "webvtt"] : ["mov_text"];
  const kinds = ["srt", "ass", "webvtt"];
  return makeClip(extension, [
    ...[
      "-f",
      "lavfi",
      "-i",
      "testsrc2=s=160x120:d=4:r=25",
      "-f",
      "lavfi",
      "-i",
      "anoisesrc=seed=1:d=4:a=0.2:r=48000",
    ],
    ...texts.flatMap((text, index) => ["-f", kinds[index] ?? "", "-i", inline(text)]),
    ...["-map", "0", "-map", "1", ...texts.flatMap((_, index) => ["-map", String(2 + index)])],
    ...["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "25", "-c:a", "aac"],
    ...codecs.flatMap((codec, index) => [`-c:s:${index}`, codec]),
    ...["-metadata:s:s:0", "language=deu", "-metadata:s:s:0", "title=Titel", "-disposition:s:0", "default"],
    ...(texts.length > 1 ? ["-metadata:s:s:1", "language=eng", "-disposition:s:1", "forced"] : []),
  ]);
}

/** Makes a second of video with a text track in German, and one in English whose only text is longer than any that is read. */
export function overfullVideo(): Promise<string> {
  return keepClip("mkv", "overfull", async (path) => {
    const texts = ["Hallo", `${"a".repeat(99)}\n`.repeat(11_000)];
    const files = texts.map((_, index) => `${path}.${index}.srt`);
    for (const [index, file] of files.entries())
      await writeFile(file, `1\n00:00:00,000 --> 00:00:00,900\n${texts[index]}\n`);
    await runFfmpeg([
      ...["-f", "lavfi", "-i", "testsrc2=s=320x180:d=1:r=25", ...files.flatMap((file) => ["-i", file])],
      ..."-map 0 -map 1 -map 2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p".split(" "),
      ...["-c:s", "copy", "-metadata:s:s:0", "language=deu", "-metadata:s:s:1", "language=eng", path],
    ]);
    await Promise.all(files.map((file) => rm(file)));
  });
}
