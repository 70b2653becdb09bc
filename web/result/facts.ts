import type { Source } from "../../src/index.ts";
import { codecName, formatName } from "../words/names.ts";
import { bytes, clock } from "../words/quantities.ts";

/** A fact in words, under its name. */
export type Fact = readonly [name: string, words: string];

/** Says what is known of an output: format, codecs, pixels, time, frames, sound, bitrate. */
export function factsOf(source: Source): Fact[] {
  const { codecs, audio, renditions } = source;
  const coded = [codecs?.video, codecs?.audio].filter((codec) => codec !== null && codec !== undefined);
  const facts: (readonly [string, string | null | undefined | false])[] = [
    ["Format", formatName(source.format)],
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
