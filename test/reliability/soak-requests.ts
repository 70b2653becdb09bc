import { readFile } from "node:fs/promises";
import type { EncodeKind } from "../../src/media/formats.ts";
import { readFacts } from "../judge/facts.ts";
import type { FrontDoor } from "../judge/front-door.ts";
import { parseMaster } from "../judge/playlists.ts";

/** An output to ask for, and how it ends. */
export interface Output {
  name?: string;
  after?: string;
  kind: EncodeKind;
  options: object;
  /** The facts that {@link look} reads from the output, or the error of the task. */
  end: string | { error: string };
}

/** A task or job to create: one output makes a task, several make a job. */
export interface SoakRequest {
  input: string;
  outputs: Output[];
}

/** Returns what the soak creates in turn, of these inputs. */
export function soakRequests(inputs: Record<"mp4" | "wav" | "png" | "mkv" | "none", string>): SoakRequest[] {
  const { mp4, wav, png, mkv, none } = inputs;
  const one = (input: string, kind: EncodeKind, options: object, end: Output["end"]): SoakRequest => ({
    input,
    outputs: [{ kind, options, end }],
  });
  return [
    one(png, "image", { format: "jpeg", width: 32 }, "mjpeg 32x18, 1"),
    one(wav, "audio", { format: "flac" }, "flac, 2 s"),
    one(mp4, "video", { width: 80 }, "h264 80x44, 50; aac, 2 s"),
    one(mp4, "image", { format: "webp", start: 1 }, "webp 160x90, 1"),
    one(mkv, "video", { format: "webm", end: 1 }, "vp9 160x90, 25; opus, 1 s"),
    one(png, "image", { format: "avif", width: 32 }, "av1 32x18, 1"),
    one(mp4, "adaptive_video", {}, "160x90, 1 audio"),
    one(mp4, "audio", { format: "mp3" }, "mp3, 2 s"),
    one(mp4, "animation", { start: 0.5, end: 1.5 }, "gif 160x90, 12"),
    one(mp4, "storyboard", { interval: 0.5, width: 80 }, "4 cues: mjpeg 320x44, 1"),
    one(wav, "waveform", {}, "345 points, 690 peaks"),
    one(mp4, "waveform", { format: "png", width: 200, height: 50 }, "png 200x50, 1"),
    one(none, "video", {}, { error: "input_not_found" }),
    one(png, "audio", {}, { error: "input_no_audio" }),
    {
      input: mp4,
      outputs: [
        { name: "small", kind: "video", options: { width: 64, end: 1 }, end: "h264 64x36, 25; aac, 1 s" },
        { after: "small", kind: "image", options: { format: "png" }, end: "png 64x36, 1" },
        { kind: "audio", options: { track: 5 }, end: { error: "invalid_options" } },
      ],
    },
    {
      input: mp4,
      outputs: [
        { kind: "storyboard", options: { format: "webp", interval: 1 }, end: "2 cues: webp 320x90, 1" },
        { kind: "audio", options: { format: "opus" }, end: "opus, 2 s" },
      ],
    },
  ];
}

/** Reads a whole output, and that which it names, and returns what it holds. */
export async function look(door: FrontDoor, url: string): Promise<string> {
  const { path } = await door.fetchFile(url);
  const text = () => readFile(path, "utf8");
  if (path.endsWith(".json")) {
    const { length, data } = JSON.parse(await text());
    return `${length} points, ${data.length} peaks`;
  }
  if (path.endsWith(".vtt")) {
    const cues = [...(await text()).matchAll(/--> .*\n(.*)#xywh=/g)].map(([, sheet = ""]) => sheet);
    const sheets = [...new Set(cues)].map((sheet) => look(door, new URL(sheet, url).href));
    return `${cues.length} cues: ${await Promise.all(sheets)}`;
  }
  if (path.endsWith(".m3u8")) {
    const { variants, audio } = parseMaster(await text(), url);
    return `${variants.map(({ resolution }) => resolution)}, ${Object.keys(audio).length} audio`;
  }
  const { picture, sound, duration } = await readFacts(path);
  const pictureText =
    picture && `${picture.codec} ${picture.width}x${picture.height}, ${picture.times.length}`;
  const soundText = sound && `${sound.codec}, ${Math.round(duration)} s`;
  return [pictureText, soundText].filter(Boolean).join("; ");
}
