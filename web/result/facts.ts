import type { Source } from "../../src/index.ts";
import { describeEncoder } from "../words/item-words.ts";
import { codecName, formatName } from "../words/names.ts";
import { bytes, clock } from "../words/quantities.ts";
import { isFolder } from "./file-names.ts";

/** A fact in words, with its name. */
export type Fact = readonly [name: string, words: string];

/**
 * Lists what is known about an output: format, codecs, pixels, duration, frames, sound, bitrate and encoder; for a folder
 * also its size, from the files available here.
 */
export function factsOf(source: Source, sizes: readonly number[] = []): Fact[] {
  const { codecs, audio, renditions } = source;
  const isMany = isFolder(source);
  const coded = [codecs?.video, codecs?.audio].filter((codec) => codec !== null && codec !== undefined);
  const facts: (readonly [string, string | null | undefined | false])[] = [
    ["Format", formatName(source.format)],
    [coded.length > 1 ? "Codecs" : "Codec", source.kind !== "image" && namesOf(coded, source.format)],
    ["Picture", pixels(source)],
    ["Duration", source.duration !== undefined && clock(source.duration, true)],
    [
      "Frame rate",
      source.fps !== undefined && source.fps > 0 && `${Number(source.fps.toFixed(2))} per second`,
    ],
    ["Sound", audio && `${channels(audio.channels)}, ${Number((audio.sample_rate / 1000).toFixed(1))} kHz`],
    ["Bitrate", source.bitrate !== undefined && source.kind !== "image" && bitrate(source.bitrate)],
    [
      "Renditions",
      renditions?.map(({ width, height }) => (width && height ? `${width} × ${height}` : "sound")).join(", "),
    ],
    [
      "Files",
      isMany && sizes.length > 0 && `${sizes.length}, ${bytes(sizes.reduce((sum, size) => sum + size, 0))}`,
    ],
    ["Made", describeEncoder(source)],
  ];
  return facts.filter((fact): fact is Fact => typeof fact[1] === "string" && fact[1] !== "");
}

// An MP3 codec in an MP3 file is named once.
function namesOf(codecs: readonly string[], format: string): string | null {
  const names = codecs.map(codecName);
  return names.length === 1 && names[0] === formatName(format) ? null : names.join(" + ");
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
