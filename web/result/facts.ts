import type { Source, Task } from "../../src/index.ts";
import { bytes, clock } from "../words/quantities.ts";

/** A fact in words, under its name. */
export type Fact = readonly [name: string, words: string];

/** Says what is known of an output: format, codecs, pixels, time, frames, sound, bitrate. */
export function factsOf(source: Source): Fact[] {
  const { codecs, audio, renditions } = source;
  const coded = [codecs?.video, codecs?.audio].filter((codec) => codec !== null && codec !== undefined);
  const facts: (readonly [string, string | null | undefined | false])[] = [
    ["Format", source.format.toUpperCase()],
    ["Codecs", coded.length > 0 && source.kind !== "image" && coded.map(codecName).join(" + ")],
    ["Size", pixels(source)],
    ["Duration", source.duration !== undefined && clock(source.duration, true)],
    [
      "Frame rate",
      source.fps !== undefined && source.fps > 0 && `${Number(source.fps.toFixed(2))} per second`,
    ],
    ["Sound", audio && `${channels(audio.channels)}, ${Number((audio.sample_rate / 1000).toFixed(1))} kHz`],
    ["Bitrate", source.bitrate !== undefined && source.kind !== "image" && bitrate(source.bitrate)],
    ["Renditions", renditions?.map(({ width, height }) => `${width} × ${height}`).join(", ")],
    ["File", source.kind !== "adaptive_video" && source.filesize !== undefined && bytes(source.filesize)],
  ];
  return facts.filter((fact): fact is Fact => typeof fact[1] === "string" && fact[1] !== "");
}

/** Says which encoder did the work and why it was chosen; null where that is not known. */
export function encoderOf(task: Task | null): Fact | null {
  const output = task?.steps.find(({ output }) => output?.encoder !== undefined)?.output;
  if (!output?.encoder) return null;
  return [output.encoder, output.reason ?? ""];
}

function pixels({ width, height }: Source): string | null {
  return width && height ? `${width} × ${height} pixels` : null;
}

function channels(count: number): string {
  if (count <= 2) return count === 1 ? "mono" : "stereo";
  return `${count} channels`;
}

function bitrate(bits: number): string {
  if (bits < 1_000_000) return `${Math.round(bits / 1000)} kbit/s`;
  return `${Number((bits / 1_000_000).toPrecision(3))} Mbit/s`;
}

const CODECS: Readonly<Record<string, string>> = {
  h264: "H.264",
  h265: "H.265",
  hevc: "H.265",
  av1: "AV1",
  vp8: "VP8",
  vp9: "VP9",
  aac: "AAC",
  mp3: "MP3",
  opus: "Opus",
  vorbis: "Vorbis",
  flac: "FLAC",
};

function codecName(codec: string): string {
  return CODECS[codec] ?? codec;
}
