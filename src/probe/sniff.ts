import { MediaError } from "../core/errors.ts";
import type { ByteReader } from "../core/ports.ts";
import { errorFor } from "../words/reason-words.ts";
import { findSvgRoot } from "./svg/svg-root.ts";

const HEAD = 4096;
const TEXT = 512;

/** Returns the first bytes of a file. Throws `input_unsupported`, naming the file's type, when no media file starts like this. */
export async function sniff(reader: ByteReader, signal?: AbortSignal): Promise<Uint8Array> {
  if (reader.size === 0) throw unsupported("The file is empty.");
  const head = await reader.read({ start: 0, end: HEAD }, signal);
  if (head.every((byte) => byte === head[0])) throw unsupported("The file contains no media.");
  if (head[0] === 0x1f && head[1] === 0x8b) {
    throw unsupported("The file is compressed with gzip, as an SVGZ is; unpack it first.");
  }
  if (isSvg(head)) return head;
  const text = asText(head.subarray(0, TEXT), reader.size > TEXT);
  if (text === null) return head;
  if (/<(!doctype html|html|head|body)\b/i.test(text)) {
    throw unsupported("This is a web page, not a media file.");
  }
  if (/^\s*#EXTM3U/.test(text)) throw errorFor("input_unsupported", { code: "playlist" });
  // Netpbm and YUV4MPEG2 files start with text but are media.
  if (/^(P[1-7FfHh]?[\s#]|YUV4MPEG2 )/.test(text)) return head;
  throw unsupported("The file is text, not media.");
}

/** Returns whether a file is an SVG, from its first bytes: text whose root is one. */
export function isSvg(head: Uint8Array): boolean {
  const text = asText(head, true);
  return text !== null && findSvgRoot(text) !== null;
}

// Text is UTF-8 without control characters other than whitespace; null for anything else.
function asText(head: Uint8Array, cut: boolean): string | null {
  if (head.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27))) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(head, { stream: cut });
  } catch {
    return null;
  }
}

export function unsupported(message: string): MediaError {
  return new MediaError("input_unsupported", message);
}
