import { EBML, writeElement } from "../../probe/ebml.ts";
import type { Cue } from "../../subtitles/cue.ts";
import { writeWebvttBlock } from "../../subtitles/text-formats.ts";
import type { SubtitleTrack } from "../../subtitles/track.ts";
import { concatBytes, viewOf } from "../../util/bytes.ts";
import { threeLetters } from "../../util/language.ts";

const SUBTITLE = 17;
const CODEC = "D_WEBVTT/SUBTITLES";

/** Encodes an element with its content. */
export function element(id: number, ...content: readonly Uint8Array[]): Uint8Array {
  const size = content.reduce((sum, { length }) => sum + length, 0);
  return concatBytes([writeElement(id, size), ...content]);
}

/** Encodes an unsigned number in a number of bytes, 8 by default. */
export function uint(id: number, value: number, width = 8): Uint8Array {
  const bytes = new Uint8Array(8);
  viewOf(bytes).setBigUint64(0, BigInt(value));
  return element(id, bytes.subarray(8 - width));
}

/** Writes the entry of a track of WebVTT. */
export function writeTextEntry(number: number, track: SubtitleTrack): Uint8Array {
  const text = (id: number, value: string) => element(id, new TextEncoder().encode(value));
  return element(
    EBML.track,
    uint(EBML.track_number, number, 2),
    uint(EBML.track_uid, number),
    uint(EBML.track_type, SUBTITLE, 1),
    uint(EBML.lacing, 0, 1),
    uint(EBML.by_default, track.default ? 1 : 0, 1),
    uint(EBML.forced, track.forced ? 1 : 0, 1),
    text(EBML.language, threeLetters(track.language)),
    ...(track.title ? [text(EBML.track_name, track.title)] : []),
    text(EBML.codec, CODEC),
  );
}

/** Writes a cue as a block of a track, `at` milliseconds after the start of its cluster. */
export function writeTextBlock(number: number, cue: Cue, at: number): Uint8Array {
  const head = new Uint8Array(5);
  const view = viewOf(head);
  view.setUint16(0, 0x4000 + number);
  view.setInt16(2, at);
  const block = element(EBML.block, head, writeWebvttBlock(cue));
  return element(EBML.block_group, block, uint(EBML.block_duration, cue.end - cue.start, 4));
}
