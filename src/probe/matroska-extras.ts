import { CHAPTER_LIMITS, type FileChapter } from "../media/chapters.ts";
import type { SourceStream } from "../media/source.ts";
import { CREATION_TIME, trackTagNames } from "../media/tags.ts";
import type { ByteReader } from "../runs/ports.ts";
import { viewOf } from "../util/bytes.ts";
import { timestamp } from "./durations.ts";
import {
  EBML,
  type Element,
  listElements,
  readElement,
  readElementAt,
  readHex,
  readUint,
  TRACK_TYPES,
} from "./ebml.ts";

/** The contents of a Matroska file besides pictures and sound. */
export interface MatroskaExtras {
  /** Index of each track, by track number. */
  places: ReadonlyMap<number, number>;
  streams: SourceStream[];
  /** Names of the tags that a video or sound track has of its own, by index. */
  trackTags: ReadonlyMap<number, readonly string[]>;
  tags: (readonly [name: string, value: string | readonly string[]])[];
  chapters: FileChapter[];
}

/** Elements of a segment that hold extras, with their positions. */
export type ExtraElements = ReadonlyMap<number, Element & { end: number }>;

// Tags with one of these targets describe a track, edition, chapter or attachment, not the file.
const PARTS: ReadonlySet<number> = new Set([0x63c5, 0x63c9, 0x63c4, 0x63c6]);
const MAX_ELEMENT = 262_144;
const MAX_ATTACHMENTS = 32;
const MEDIA: ReadonlySet<number> = new Set([TRACK_TYPES.video, TRACK_TYPES.audio]);
const CODECS: Readonly<Record<string, string>> = {
  "S_TEXT/UTF8": "subrip",
  "S_TEXT/ASS": "ass",
  "S_TEXT/SSA": "ass",
  "S_TEXT/WEBVTT": "webvtt",
  "D_WEBVTT/SUBTITLES": "webvtt",
  "D_WEBVTT/CAPTIONS": "webvtt",
  S_VOBSUB: "dvd_subtitle",
  "S_HDMV/PGS": "hdmv_pgs_subtitle",
  S_DVBSUB: "dvb_subtitle",
};
const COVERS: Readonly<Record<string, string>> = {
  "image/jpeg": "mjpeg",
  "image/jpg": "mjpeg",
  "image/png": "png",
};

/** Elements whose contents {@link readMatroskaExtras} reads. */
export const EXTRA_IDS: ReadonlySet<number> = new Set([
  EBML.seek_head,
  EBML.attachments,
  EBML.chapters,
  EBML.tags,
]);

/** Reads extras from a segment's headers: Info and Tracks, already in memory, and small elements before the clusters. */
export async function readMatroskaExtras(
  reader: ByteReader,
  segment: number,
  { info, tracks }: { info: Uint8Array; tracks: Uint8Array },
  elements: ExtraElements,
): Promise<MatroskaExtras> {
  const content = async (id: number) => {
    const element = elements.get(id) ?? (await seekElement(reader, segment, id, elements));
    if (!element || element.end - element.data > MAX_ELEMENT) return new Uint8Array();
    return reader.read({ start: element.data, end: element.end });
  };
  const tagged = await content(EBML.tags);
  const { places, streams, uids, titles } = readOtherTracks(tracks, readBitrates(tagged));
  const [only = null] = uids.length === 1 ? uids : [];
  const attached = await readAttachments(reader, elements.get(EBML.attachments), places.size);
  const chapters = await content(EBML.chapters);
  const title = textIn(info, readElement(info, 0)?.data ?? 0, info.length, EBML.title);
  const created = readCreation(info);
  const tags = readFileTags(tagged, only);
  return {
    places,
    streams: [...streams, ...attached],
    trackTags: readTrackTags(tagged, uids, titles),
    tags: [
      ...(title ? [["title", title] as const] : []),
      ...(created ? [[CREATION_TIME, created] as const] : []),
      ...tags,
    ],
    chapters: readEdition(chapters),
  };
}

function readEdition(bytes: Uint8Array): FileChapter[] {
  const [edition] = fieldsOf(bytes, 0, bytes.length, EBML.edition);
  const atoms = edition ? fieldsOf(bytes, edition.data, edition.end, EBML.chapter) : [];
  return atoms.slice(0, CHAPTER_LIMITS.chapters).map(({ data, end }) => {
    const time = (id: number) => {
      const [field] = fieldsOf(bytes, data, end, id);
      return field ? readUint(bytes, field.data, field.end) / 1e9 : undefined;
    };
    const [display] = fieldsOf(bytes, data, end, EBML.chapter_display);
    return {
      start: time(EBML.chapter_start) ?? 0,
      end: time(EBML.chapter_end),
      title: (display && textIn(bytes, display.data, display.end, EBML.chapter_string)) ?? "",
    };
  });
}

// Nanoseconds since the start of 2001 (RFC 9559, 5.1.2.11).
function readCreation(info: Uint8Array): string | null {
  const [field] = fieldsOf(info, readElement(info, 0)?.data ?? 0, info.length, EBML.date);
  if (!field || field.end - field.data !== 8) return null;
  const view = viewOf(info);
  return timestamp(Number(view.getBigInt64(field.data)) / 1e9 + Date.UTC(2001) / 1000);
}

// Some muxers write tags and chapters after the clusters and refer to them in the SeekHead.
async function seekElement(
  reader: ByteReader,
  segment: number,
  id: number,
  elements: ExtraElements,
): Promise<(Element & { end: number }) | null> {
  const head = elements.get(EBML.seek_head);
  if (!head || head.end - head.data > MAX_ELEMENT) return null;
  const bytes = await reader.read({ start: head.data, end: head.end });
  for (const { data, end } of fieldsOf(bytes, 0, bytes.length, EBML.seek)) {
    const value = (fieldId: number) => {
      const [field] = fieldsOf(bytes, data, end, fieldId);
      return field ? readUint(bytes, field.data, field.end) : -1;
    };
    const at = segment + value(EBML.seek_position);
    if (value(EBML.seek_id) !== id || at <= segment || at >= reader.size) continue;
    const element = await readElementAt(reader, at);
    if (element?.id === id && element.end !== null && element.end <= reader.size)
      return { ...element, end: element.end };
  }
  return null;
}

function readOtherTracks(
  bytes: Uint8Array,
  bitrates: ReadonlyMap<string, number>,
): Pick<MatroskaExtras, "places" | "streams"> & { uids: string[]; titles: ReadonlyMap<number, string> } {
  const tracks = readElement(bytes, 0);
  const places = new Map<number, number>();
  const streams: SourceStream[] = [];
  const uids: string[] = [];
  const titles = new Map<number, string>();
  for (const [index, { data, end }] of fieldsOf(
    bytes,
    tracks?.data ?? 0,
    bytes.length,
    EBML.track,
  ).entries()) {
    const value = (fieldId: number, fallback = 0) => {
      const [field] = fieldsOf(bytes, data, end, fieldId);
      return field ? readUint(bytes, field.data, field.end) : fallback;
    };
    places.set(value(EBML.track_number), index);
    const type = value(EBML.track_type);
    const [uid] = fieldsOf(bytes, data, end, EBML.track_uid);
    uids.push(uid ? readHex(bytes, uid) : "");
    const title = textIn(bytes, data, end, EBML.track_name);
    if (MEDIA.has(type)) {
      if (title) titles.set(index, title);
      continue;
    }
    const language = textIn(bytes, data, end, EBML.language) ?? "eng";
    const bitrate = uid && bitrates.get(readHex(bytes, uid));
    streams.push({
      index,
      kind: type === TRACK_TYPES.subtitle ? "subtitle" : "data",
      codec: CODECS[textIn(bytes, data, end, EBML.codec) ?? ""] ?? null,
      ...(bitrate !== undefined && { bitrate }),
      ...(language !== "und" && { language }),
      ...(type === TRACK_TYPES.subtitle && {
        ...(title && { title }),
        ...(value(EBML.by_default, 1) === 1 && { default: true }),
        ...(value(EBML.forced) === 1 && { forced: true }),
      }),
    });
  }
  return { places, streams, uids, titles };
}

async function readAttachments(
  reader: ByteReader,
  attachments: (Element & { end: number }) | undefined,
  first: number,
): Promise<SourceStream[]> {
  const streams: SourceStream[] = [];
  for (
    let at = attachments?.data ?? 0;
    attachments && at < attachments.end && streams.length < MAX_ATTACHMENTS;
  ) {
    const file = await readElementAt(reader, at);
    if (!file || file.end === null) break;
    at = file.end;
    if (file.id !== EBML.file) continue;
    let mime = "";
    for (let inner = file.data; inner < file.end; ) {
      const field = await readElementAt(reader, inner);
      if (!field || field.end === null || field.end > file.end) break;
      if (field.id === EBML.file_mime && field.end - field.data < 256)
        mime = decode(await reader.read({ start: field.data, end: field.end }));
      inner = field.end;
    }
    const codec = COVERS[mime.toLowerCase()] ?? null;
    streams.push({
      index: first + streams.length,
      kind: mime.startsWith("image/") ? "cover" : "data",
      codec,
    });
  }
  return streams;
}

function readBitrates(bytes: Uint8Array): Map<string, number> {
  const tracks = fieldsOf(bytes, 0, bytes.length, EBML.tag).flatMap(({ data, end }) => {
    const [target] = fieldsOf(bytes, data, end, EBML.targets);
    const [uid] = target ? fieldsOf(bytes, target.data, target.end, EBML.tag_track_uid) : [];
    const rates = fieldsOf(bytes, data, end, EBML.simple_tag).flatMap((tag) => {
      const text = (id: number) => textIn(bytes, tag.data, tag.end, id) ?? "";
      return text(EBML.tag_name) === "BPS" && /^\d{1,12}$/.test(text(EBML.tag_string))
        ? [text(EBML.tag_string)]
        : [];
    });
    return uid && rates[0] !== undefined ? [[readHex(bytes, uid), Number(rates[0])] as const] : [];
  });
  return new Map(tracks);
}

// Tags of a file's only track count as tags of the file, except its name.
function readTrackTags(
  bytes: Uint8Array,
  uids: readonly string[],
  titles: ReadonlyMap<number, string>,
): MatroskaExtras["trackTags"] {
  const all = new Map([...titles].map(([index, title]) => [index, [["title", title]] as [string, string][]]));
  const tags = uids.length > 1 ? fieldsOf(bytes, 0, bytes.length, EBML.tag) : [];
  for (const { data, end } of tags) {
    const [target] = fieldsOf(bytes, data, end, EBML.targets);
    const [uid] = target ? fieldsOf(bytes, target.data, target.end, EBML.tag_track_uid) : [];
    const index = uid ? uids.indexOf(readHex(bytes, uid)) : -1;
    if (index < 0) continue;
    const entries = fieldsOf(bytes, data, end, EBML.simple_tag).map((tag): [string, string] => {
      const text = (id: number) => textIn(bytes, tag.data, tag.end, id) ?? "";
      return [text(EBML.tag_name), text(EBML.tag_string)];
    });
    all.set(index, [...(all.get(index) ?? []), ...entries]);
  }
  return new Map([...all].map(([index, entries]) => [index, trackTagNames(entries)]));
}

// Muxers write these measurements as tags of each track.
const MEASURED = /^(BPS|DURATION|NUMBER_OF_(FRAMES|BYTES)|_STATISTICS_.*|SOURCE_ID|ENCODER)(-\w+)?$/;

/** Reads the tags of the file, then those of its only track, which describe the same work; `only` is that track's UID in hexadecimal. */
function readFileTags(bytes: Uint8Array, only: string | null): MatroskaExtras["tags"] {
  const all = fieldsOf(bytes, 0, bytes.length, EBML.tag).map(({ data, end }) => {
    const parts = fieldsOf(bytes, data, end, EBML.targets)
      .flatMap((target) => listElements(bytes, target.data, target.end))
      .filter((field) => PARTS.has(field.id) && readUint(bytes, field.data, field.end) !== 0);
    const isOfTrack = parts.every(
      (field) => field.id === EBML.tag_track_uid && readHex(bytes, field) === only,
    );
    if (!isOfTrack) return { parts, texts: [] };
    const texts = new Map<string, string[]>();
    for (const tag of fieldsOf(bytes, data, end, EBML.simple_tag)) {
      const text = (id: number) => textIn(bytes, tag.data, tag.end, id) ?? "";
      const name = text(EBML.tag_name);
      if (parts.length > 0 && MEASURED.test(name)) continue;
      texts.set(name, [...(texts.get(name) ?? []), text(EBML.tag_string)]);
    }
    return { parts, texts: [...texts] };
  });
  const tagsOf = (isTrack: boolean) =>
    all.flatMap(({ parts, texts }) => (parts.length > 0 === isTrack ? texts : []));
  const own = tagsOf(false);
  const names = new Set(own.map(([name]) => name));
  return [...own, ...tagsOf(true).filter(([name]) => !names.has(name))];
}

function fieldsOf(bytes: Uint8Array, start: number, end: number, id: number) {
  return listElements(bytes, start, end).filter((element) => element.id === id);
}

function textIn(bytes: Uint8Array, start: number, end: number, id: number): string | null {
  const [field] = fieldsOf(bytes, start, end, id);
  return field ? decode(bytes.subarray(field.data, field.end)) : null;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(/\0+$/, "");
}
