import type { Input } from "mediabunny";
import { type FoundChapter, readChapters, readCommentChapters } from "../core/chapters/chapters.ts";
import type { ByteReader } from "../core/ports.ts";
import type { Source, SourceStream } from "../core/source.ts";
import { COVER_CODECS, readTags, type Tags } from "../core/tags.ts";
import type { MovieIndex } from "./isobmff/isobmff.ts";
import { readMovieChapters } from "./isobmff/movie-chapters.ts";
import { readMovieExtras } from "./isobmff/movie-extras.ts";
import type { MatroskaExtras } from "./matroska/matroska-extras.ts";
import { readId3 } from "./sound/id3.ts";

/** What a file contains besides pictures and sound. */
export interface Extras {
  /** Index of each track in the file, by track id; a missing track keeps its position in the list. */
  places: ReadonlyMap<number, number>;
  /** Streams that are neither pictures nor sound; those without an index follow the others. */
  streams: (Omit<SourceStream, "index"> & { index?: number })[];
  tags: Tags | undefined;
  chapters: FoundChapter[];
  /** Tracks of the titles of chapters, which are streams of their own where no chapter can be read. */
  titles?: readonly SourceStream[];
}

export interface ExtrasSource {
  reader: ByteReader;
  movie: MovieIndex | null;
  matroska: MatroskaExtras | null;
}

/** Reads the tags, covers, chapters and other streams of a file from what its probe reads anyway. */
export async function readExtras(
  input: Input,
  format: string,
  { reader, movie, matroska }: ExtrasSource,
): Promise<Extras> {
  if (matroska) return { ...matroska, tags: readTags(matroska.tags) };
  if (format === "mp3" || format === "aac") {
    const { tags, covers, chapters } = await readId3(reader);
    const streams = covers.map(({ mime, common }) => coverStream(common ? mime : ""));
    return { places: new Map(), streams, tags: readTags(tags), chapters };
  }
  // mediabunny would read attachments completely.
  if (format === "matroska" || format === "webm") {
    return { places: new Map(), streams: [], tags: undefined, chapters: [] };
  }
  const found = await input.getMetadataTags();
  const texts = Object.entries(found.raw ?? {}).flatMap(([name, value]) => {
    const text = Array.isArray(value) ? value.join(";") : value;
    return typeof text === "string" ? [ownTag(format, name, text)] : [];
  });
  const known: (readonly [string, string | undefined])[] = [
    ["track", ofTotal(found.trackNumber, found.tracksTotal)],
    ["disc", ofTotal(found.discNumber, found.discsTotal)],
    ["lyrics", found.lyrics],
    ["comment", found.comment],
  ];
  const extras = movie && readMovieExtras(movie);
  const tags = readTags([
    ...texts,
    ...known.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    ...(extras?.tags ?? []),
  ]);
  if (movie && extras) {
    const chapters = await readMovieChapters(movie, extras.titleBoxes);
    return { ...extras, tags, chapters };
  }
  const covers = (found.images ?? []).map(({ mimeType }) => coverStream(mimeType));
  return { places: new Map(), streams: covers, tags, chapters: readCommentChapters(texts) };
}

/** Adds extras to the Source of a file whose first picture or sound is at `origin` seconds. */
export function withExtras(
  source: Source,
  { streams, tags, chapters, titles = [] }: Extras,
  origin: number,
): Source {
  const own = source.streams ?? [];
  const known = readChapters(chapters, source.duration, origin);
  const found = known ? streams : [...streams, ...titles];
  const more = found.map((stream, place) => ({ ...stream, index: stream.index ?? own.length + place }));
  return {
    ...source,
    ...(tags && { tags }),
    ...(known && { chapters: known }),
    streams: [...own, ...more].sort((one, other) => one.index - other.index),
  };
}

function ownTag(format: string, name: string, text: string): readonly [name: string, value: string] {
  // Vorbis comments call a comment a description.
  if ((format === "flac" || format === "ogg") && /^description$/i.test(name)) return ["comment", text];
  return format === "wav" ? [name, asUtf8(text)] : [name, text];
}

// mediabunny (1.61) reads the texts of a WAV as Latin-1; most programs write UTF-8.
function asUtf8(text: string): string {
  try {
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return text;
  }
}

function coverStream(mime: string): Extras["streams"][number] {
  const kind = /jpe?g/i.test(mime) ? COVER_CODECS.mjpeg : mime.toLowerCase();
  const codec = Object.entries(COVER_CODECS).find(([, type]) => type === kind || type.endsWith(`/${kind}`));
  return { kind: "cover", codec: codec?.[0] ?? null };
}

function ofTotal(number: number | undefined, total: number | undefined): string | undefined {
  if (number === undefined) return undefined;
  return total === undefined ? String(number) : `${number}/${total}`;
}
