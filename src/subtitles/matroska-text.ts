import {
  DEFAULT_TICK,
  EBML,
  type Element,
  listElements,
  MAX_TOP_ELEMENTS,
  readElement,
  readElementAt,
  readUint,
  readVint,
  TRACK_TYPES,
} from "../probe/ebml.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes, inflate, MIB, viewOf } from "../util/bytes.ts";
import { readAssBlock } from "./ass.ts";
import type { Cue } from "./cue.ts";
import { readSubripText, readWebvttBlock, readWebvttText } from "./text-formats.ts";
import { CUE_LIMITS, type CueBudget, type CueList, type CueReader, createCueList } from "./track.ts";

const READERS: Readonly<
  Record<string, (text: string, more: string) => Pick<Cue, "text" | "settings"> | null>
> = {
  "S_TEXT/UTF8": readSubripText,
  "S_TEXT/ASS": readAssBlock,
  "S_TEXT/SSA": readAssBlock,
  // Block additions hold the settings and the identifier, a line each.
  "S_TEXT/WEBVTT": (text, more) => readWebvttText(text, more.split("\n", 1)[0]),
  "D_WEBVTT/SUBTITLES": readWebvttBlock,
  "D_WEBVTT/CAPTIONS": readWebvttBlock,
};
const MAX_HEADER = 4 * MIB;
const MAX_BLOCK = MIB;
const WINDOW = 2 * MIB;
const ELEMENT_HEADER = 12;
const MAX_LEAD = 2 ** 15;
const MAX_OPEN_MS = 10_000;

interface TextEntry {
  stream: number;
  read: (typeof READERS)[string];
  /** Decompresses a block; null for damaged data, and for too much of it. */
  expand(bytes: Uint8Array): Promise<Uint8Array | null>;
  list: CueList;
  /** Cues without a stated duration. */
  openEnded: Set<Cue>;
}

/** Reads the cues of text tracks in a Matroska or WebM file; skips everything else. */
export const readMatroskaCues: CueReader = async (reader, streams, { signal, onWait, until }) => {
  const head = await readHead(reader, streams);
  if (!head) return new Map();
  const { entries, media, tick } = head;
  const window = createWindow(reader, signal, onWait);
  const ms = (ticks: number) => Math.round((ticks * tick) / DEFAULT_TICK);
  let clock = 0;
  let first = Number.POSITIVE_INFINITY;
  const origin = () => (Number.isFinite(first) ? ms(first) : 0);
  for (let at = head.clusters; at < reader.size && entries.size > 0; ) {
    const element = await window.element(at);
    if (!element || (element.end === null && element.id !== EBML.cluster)) break;
    if (element.id === EBML.cluster || element.id === EBML.segment) {
      at = element.data;
      continue;
    }
    const end = element.end ?? reader.size;
    at = end;
    if (element.id === EBML.timestamp && end - element.data <= 8) {
      const bytes = await window.read(element.data, end);
      clock = readUint(bytes, 0, bytes.length);
      if (ms(clock - MAX_LEAD) - origin() > until) break;
    }
    const isBlock = element.id === EBML.block_group || element.id === EBML.simple_block;
    if (!isBlock) continue;
    const { number, offset } = await blockHead(window, element);
    if (media.has(number)) first = Math.min(first, clock + offset);
    const entry = entries.get(number);
    if (!entry) continue;
    const isReadable = end - element.data <= MAX_BLOCK;
    const cue = isReadable && readBlock(await window.read(element.start, end));
    if (cue) {
      const start = ms(clock + offset);
      await addCue(
        entry,
        { start, end: cue.duration === null ? start + MAX_OPEN_MS : start + ms(cue.duration) },
        cue,
      );
    }
    if (!isReadable || !entry.list.whole) entries.delete(number);
  }
  const shift = origin();
  const moved = (cue: Cue) => ({ ...cue, start: cue.start - shift, end: cue.end - shift });
  return new Map([...entries.values()].map((entry) => [entry.stream, withEnds(entry).map(moved)]));
};

// Players show a cue that states no duration until the next one that starts after it.
function withEnds({ list, openEnded }: TextEntry): Cue[] {
  const later: Cue[] = [];
  const cues = list.cues.toReversed().map((cue) => {
    while ((later.at(-1)?.start ?? Number.POSITIVE_INFINITY) <= cue.start) later.pop();
    const next = later.at(-1);
    later.push(cue);
    return openEnded.has(cue) ? { ...cue, end: Math.min(cue.end, next?.start ?? cue.end) } : cue;
  });
  return cues.reverse();
}

async function addCue(
  { expand, read, list, openEnded }: TextEntry,
  time: Pick<Cue, "start" | "end">,
  { duration, bytes, more }: Block,
): Promise<void> {
  const decoder = new TextDecoder();
  const text = await expand(bytes);
  const size = (text ?? bytes).length + more.length;
  const cue = text && read(decoder.decode(text).replace(/\0+$/, ""), decoder.decode(more));
  list.add(time, cue, size);
  const added = list.cues.at(-1);
  if (duration === null && cue && added) openEnded.add(added);
}

async function readHead(reader: ByteReader, streams: readonly number[]) {
  const header = await readElementAt(reader, 0);
  const segment = header?.end ? await readElementAt(reader, header.end) : null;
  if (segment?.id !== EBML.segment) return null;
  const entries = new Map<number, TextEntry>();
  const media = new Set<number>();
  const budget: CueBudget = { ...CUE_LIMITS };
  let [at, tick] = [segment.data, DEFAULT_TICK];
  for (let count = 0; count < MAX_TOP_ELEMENTS; count++) {
    const element = await readElementAt(reader, at);
    if (element?.id === EBML.cluster) return { entries, media, tick, clusters: at };
    if (element?.end == null) return null;
    const isHeader = element.id === EBML.info || element.id === EBML.tracks;
    if (isHeader && element.end - at <= MAX_HEADER) {
      const bytes = await reader.read({ start: element.data, end: element.end });
      if (element.id === EBML.info) tick = field(bytes, EBML.timestamp_scale) || DEFAULT_TICK;
      else {
        for (const [number, entry] of readEntries(bytes, streams, budget)) entries.set(number, entry);
        for (const number of mediaTracks(bytes)) media.add(number);
      }
    }
    at = element.end;
  }
  return null;
}

function readEntries(
  tracks: Uint8Array,
  streams: readonly number[],
  budget: CueBudget,
): [number, TextEntry][] {
  const all = listElements(tracks, 0, tracks.length).filter(({ id }) => id === EBML.track);
  return all.flatMap(({ data, end }, stream): [number, TextEntry][] => {
    const bytes = tracks.subarray(data, end);
    const codec = contentOf(bytes, EBML.codec);
    const read = READERS[codec ? new TextDecoder().decode(codec).replace(/\0+$/, "") : ""];
    const expand = readEncoding(contentOf(bytes, EBML.encodings));
    if (!streams.includes(stream) || !read || !expand) return [];
    const entry = { stream, read, expand, list: createCueList(budget), openEnded: new Set<Cue>() };
    return [[field(bytes, EBML.track_number), entry]];
  });
}

function mediaTracks(tracks: Uint8Array): number[] {
  const all = listElements(tracks, 0, tracks.length).filter(({ id }) => id === EBML.track);
  return all.flatMap(({ data, end }) => {
    const bytes = tracks.subarray(data, end);
    const type = field(bytes, EBML.track_type);
    return type === TRACK_TYPES.video || type === TRACK_TYPES.audio ? [field(bytes, EBML.track_number)] : [];
  });
}

const ALGORITHMS = { zlib: 0, stripping: 3 } as const;

function readEncoding(encodings: Uint8Array | null): TextEntry["expand"] | null {
  if (!encodings) return async (bytes) => bytes;
  const all = listElements(encodings, 0, encodings.length).filter(({ id }) => id === EBML.encoding);
  const [encoding] = all.map(({ data, end }) => encodings.subarray(data, end));
  const compression = encoding && contentOf(encoding, EBML.compression);
  if (!encoding || !compression || all.length > 1 || contentOf(encoding, EBML.encryption)) return null;
  // Scope 2 covers only the track's private data.
  if ((contentOf(encoding, EBML.encoding_scope) ?? Uint8Array.of(1))[0] === 2) return async (bytes) => bytes;
  const algorithm = field(compression, EBML.compression_algorithm);
  if (algorithm === ALGORITHMS.zlib) return (bytes) => inflate(bytes, MAX_BLOCK);
  const prefix = contentOf(compression, EBML.compression_settings) ?? new Uint8Array();
  return algorithm === ALGORITHMS.stripping ? async (bytes) => concatBytes([prefix, bytes]) : null;
}

interface Block {
  /** Duration in ticks; null when not stated. */
  duration: number | null;
  bytes: Uint8Array;
  /** BlockAdditions. */
  more: Uint8Array;
}

// RFC 9559, 10: the track, 16 bits of time and the flags precede the text.
function readBlock(bytes: Uint8Array): Block | null {
  const whole = readElement(bytes, 0);
  if (!whole) return null;
  const group = whole.id === EBML.block_group ? bytes.subarray(whole.data) : null;
  const block = group ? contentOf(group, EBML.block) : bytes.subarray(whole.data);
  const head = block ? Math.clz32(block[0] ?? 0) - 23 : 0;
  if (!block || block.length < head + 3) return null;
  const additions = group && contentOf(group, EBML.block_additions);
  const more = additions && contentOf(additions, EBML.block_more);
  return {
    duration: group && contentOf(group, EBML.block_duration) ? field(group, EBML.block_duration) : null,
    bytes: block.subarray(head + 3),
    more: (more && contentOf(more, EBML.block_additional)) ?? new Uint8Array(),
  };
}

function contentOf(bytes: Uint8Array, elementId: number): Uint8Array | null {
  const element = listElements(bytes, 0, bytes.length).find(({ id }) => id === elementId);
  return element ? bytes.subarray(element.data, element.end) : null;
}

function field(bytes: Uint8Array, elementId: number): number {
  const content = contentOf(bytes, elementId);
  return content && content.length <= 8 ? readUint(content, 0, content.length) : 0;
}

interface Window {
  read(start: number, end: number): Promise<Uint8Array>;
  element(at: number): Promise<Element | null>;
}

function createWindow(reader: ByteReader, signal: AbortSignal, onWait: () => void): Window {
  let cached: { start: number; bytes: Uint8Array } = { start: 0, bytes: new Uint8Array() };
  const window: Window = {
    async read(start, end) {
      const to = Math.min(end, reader.size);
      if (start < cached.start || to > cached.start + cached.bytes.length) {
        signal.throwIfAborted();
        onWait();
        const last = Math.max(to, Math.min(start + WINDOW, reader.size));
        cached = { start, bytes: await reader.read({ start, end: last }, signal) };
      }
      return cached.bytes.subarray(start - cached.start, to - cached.start);
    },
    async element(at) {
      const element = readElement(await window.read(at, at + ELEMENT_HEADER), 0);
      if (!element) return null;
      const end = element.end === null ? null : at + element.end;
      return { id: element.id, start: at, data: at + element.data, end };
    },
  };
  return window;
}

async function blockHead(window: Window, { id, data, end }: Element) {
  const bytes = await window.read(data, Math.min(end ?? data, data + ELEMENT_HEADER + 8));
  const inner = id === EBML.block_group ? readElement(bytes, 0) : null;
  const at = inner?.data ?? 0;
  const offset = at + Math.clz32(bytes[at] ?? 0) - 23;
  if ((id === EBML.block_group && inner?.id !== EBML.block) || offset + 2 > bytes.length)
    return { number: 0, offset: 0 };
  return { number: readVint(bytes, at) ?? 0, offset: viewOf(bytes).getInt16(offset) };
}
