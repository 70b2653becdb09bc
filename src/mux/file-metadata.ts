import { type MetadataTags, RichImageData } from "mediabunny";
import { containerOf } from "../media/containers.ts";
import type { VideoFormat } from "../media/formats.ts";
import type { Plan } from "../media/plan.ts";
import { COVER_CODECS, type Tags, tagPlace } from "../media/tags.ts";
import { openUncached } from "../probe/mediabunny.ts";
import { readId3 } from "../probe/mp3.ts";
import { boundReader } from "../probe/reader.ts";
import type { ByteReader } from "../runs/ports.ts";

export interface Cover {
  mime: string;
  bytes: Uint8Array;
}

/** File-level metadata for a muxer to write. */
export interface FileMetadata {
  tags: Tags;
  cover: Cover | null;
  /** Language of the sound in ISO 639-2/T; undefined when unknown. */
  language: string | undefined;
}

// 32 MiB: room for a large cover and the file headers around it.
const BOUNDS = { reads: 20_000, blocks: 512, jumps: 64 };
const MIMES: ReadonlySet<string> = new Set(Object.values(COVER_CODECS));

/**
 * Collects the tags and cover of a plan's output; reads the cover from the source, and omits an unreadable one.
 */
export async function readMetadata(
  { tags = {}, cover, language }: Plan,
  open: () => ByteReader | Promise<ByteReader>,
  signal: AbortSignal,
): Promise<FileMetadata> {
  return { tags, language, cover: cover === undefined ? null : await readCover(await open(), signal) };
}

/** Reads the first cover in a format that outputs support; null when there is none. */
export async function readCover(reader: ByteReader, signal: AbortSignal): Promise<Cover | null> {
  const bounded = boundReader(reader, BOUNDS, signal);
  const input = openUncached(bounded);
  try {
    // mediabunny (1.61) misreads unsynchronised ID3 tags.
    for (const { mime, read } of (await readId3(bounded)).covers) {
      if (MIMES.has(mime)) return { mime, bytes: await read() };
    }
    const { images = [] } = await input.getMetadataTags();
    for (const { mimeType, data } of images) {
      const mime = mimeType === "image/jpg" ? COVER_CODECS.mjpeg : mimeType;
      if (MIMES.has(mime) && data.length > 0) return { mime, bytes: data };
    }
    return null;
  } catch {
    signal.throwIfAborted();
    bounded.throwFailure();
    return null;
  } finally {
    input.dispose();
  }
}

/** Converts tags and cover to mediabunny's form for a format; undefined when there are none. */
export function muxerTags(format: VideoFormat, { tags, cover }: FileMetadata): MetadataTags | undefined {
  const { tags: scheme, covers } = containerOf({ format });
  const raw: NonNullable<MetadataTags["raw"]> = {};
  for (const [name, value] of Object.entries(tags)) {
    if (scheme === "matroska") raw[MATROSKA_NAMES[name] ?? name.toUpperCase()] = value;
    else {
      const place = tagPlace(name, scheme);
      if (place) raw[place] = NUMBERED.has(place) ? numbersOf(value) : value;
    }
  }
  if (cover && covers) raw.covr = new RichImageData(cover.bytes, cover.mime);
  return Object.keys(raw).length > 0 ? { raw } : undefined;
}

const MATROSKA_NAMES: Readonly<Record<string, string>> = { track: "PART_NUMBER" };

/** MP4 items that hold a number and a total instead of text. */
export const NUMBERED: ReadonlySet<string> = new Set(["trkn", "disk"]);

/** Encodes a number and total, such as `3/9`, as the bytes of an MP4 item. */
export function numbersOf(text: string): Uint8Array {
  const [number = 0, total = 0] = text.split("/").map((part) => Number.parseInt(part, 10) || 0);
  return Uint8Array.of(0, 0, number >> 8, number, total >> 8, total, 0, 0);
}
