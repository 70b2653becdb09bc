import { containerOf } from "../media/containers.ts";
import { FFMPEG_FPS } from "../media/features/fps.ts";
import type { Source } from "../media/source.ts";
import type { ByteReader } from "../runs/ports.ts";
import { KIB, latinText, MIB, viewOf } from "../util/bytes.ts";
import type { PacketLength } from "./durations.ts";
import * as errors from "./errors.ts";
import { readBlockTimes, readSoundChanges } from "./matroska.ts";
import { createSoundChanges, measureFlacEnd, type SoundChanges } from "./sound-frames.ts";
import { measureRestarts, measureUnstamped } from "./transport-stream.ts";

type Measure = (file: Blocks, source: Source, maxBytes?: number) => Promise<PacketLength | null>;

/**
 * Measures a file by its packets, because headers of these formats are often wrong; null for other formats and when the packets
 * are inconclusive. Estimates the length of a file that restarts and is larger than `maxBytes`. Rejects as the reader does.
 */
export async function measurePackets(
  reader: ByteReader,
  source: Source,
  signal: AbortSignal,
  maxBytes?: number,
): Promise<PacketLength | null> {
  const measure = MEASURES[containerOf(source).family ?? source.format];
  if (!measure || source.kind === "image") return null;
  try {
    return await measure(createBlocks(reader, signal), source, maxBytes);
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

const MEASURES: Readonly<Record<string, Measure>> = {
  flv: measureFlv,
  avi: measureAvi,
  aiff: measureAiff,
  wav: measureWav,
  w64: measureW64,
  asf: measureAsf,
  ogg: measureOgg,
  flac: ({ reader, signal }) => measureFlacEnd(reader, signal),
  mpegts: measureTransport,
  mpeg: measureProgram,
  matroska: async (file, source) =>
    withChange(await measureMatroska(file, source), await readSoundChanges(file.reader, source, file.signal)),
  mjpeg: measureMotionJpeg,
};

async function measureTransport({ reader, signal }: Blocks, _: Source, maxBytes?: number) {
  return measureRestarts(reader, "transport", signal, maxBytes);
}

async function measureProgram({ reader, signal }: Blocks, source: Source, maxBytes?: number) {
  const sound = createSoundChanges(source.codecs?.audio);
  const restarts = await measureRestarts(reader, "program", signal, maxBytes, sound);
  return withChange(restarts ?? (await measureUnstamped(reader, source, signal)), sound);
}

function withChange(length: PacketLength | null, sound: SoundChanges | null): PacketLength | null {
  return sound?.change() ? { seconds: null, truncated: false, ...length, changes: true } : length;
}

// ITU-T T.81, B.1.1: a picture ends with a marker that its compressed data cannot contain, but its segments can: a thumbnail in EXIF data is
// a whole JPEG. Some cameras omit that marker, so that a picture lasts until the next one starts. The pictures at the start of a large file
// stand for all.
async function measureMotionJpeg(
  { reader, signal }: Blocks,
  { fps = FFMPEG_FPS }: Source,
  maxBytes = MAX_WALKED,
): Promise<PacketLength | null> {
  const bytes = Math.min(reader.size, maxBytes);
  let [pictures, before, counted] = [0, 0, 0];
  let [isOpen, omitsEnds] = [false, false];
  // Unread bytes of the field that states a segment's length, and that length.
  let [unread, length] = [0, 0];
  for (let [at, place] = [0, 0]; at < bytes; at += BLOCK, place -= BLOCK) {
    const block = await reader.read({ start: at, end: Math.min(bytes, at + BLOCK) }, signal);
    for (; place < block.length; place++) {
      const byte = block[place] ?? 0;
      if (unread > 0) {
        length = length * 256 + byte;
        unread--;
        if (unread === 0) place += Math.max(0, length - 2);
      } else if (before === 0xff && (byte === START_OF_IMAGE || byte === END_OF_IMAGE)) {
        const isStart = byte === START_OF_IMAGE;
        if (isOpen) {
          pictures++;
          counted = at + place + (isStart ? -1 : 1);
          omitsEnds ||= isStart;
        }
        isOpen = isStart;
      } else if (before === 0xff && byte >= FIRST_SEGMENT && byte < 0xff && !isBare(byte)) {
        [unread, length] = [2, 0];
      }
      before = byte;
    }
  }
  if (pictures === 0) return null;
  const isWhole = bytes === reader.size;
  const truncated = isWhole && isOpen && !omitsEnds;
  const last = isOpen && omitsEnds ? 1 : 0;
  const all = isWhole ? pictures + last : (pictures * reader.size) / counted;
  return { seconds: all / fps, truncated, ...(isWhole ? { exact: true } : { estimated: true }) };
}

const START_OF_IMAGE = 0xd8;
const END_OF_IMAGE = 0xd9;
// T.81, table B.1: a segment follows each marker from here on, except restarts and the start and end of a picture.
const FIRST_SEGMENT = 0xc0;
const isBare = (marker: number) => marker >= 0xd0 && marker <= END_OF_IMAGE;

const MAX_WALKED = 32 * MIB;
const BLOCK = 2 * MIB;

/** A reader that caches its last block, so that small sequential reads cost few requests. */
export interface Blocks {
  reader: ByteReader;
  size: number;
  signal: AbortSignal;
  /** Returns a view of `length` bytes, fewer at the end of the file. */
  view(at: number, length: number): Promise<DataView>;
}

/** Returns a reader of blocks of `bytes`. */
export function createBlocks(reader: ByteReader, signal: AbortSignal, bytes = BLOCK): Blocks {
  let start = 0;
  let block: Uint8Array = new Uint8Array();
  return {
    reader,
    size: reader.size,
    signal,
    async view(at, length) {
      const end = Math.min(reader.size, at + length);
      if (at < start || end > start + block.length) {
        start = at;
        block = await reader.read(
          { start, end: Math.min(reader.size, at + Math.max(length, bytes)) },
          signal,
        );
      }
      return viewOf(block.subarray(at - start, Math.max(0, end - start)));
    },
  };
}

// Assumed length of the last packet in containers that do not state it.
const SOUND_PACKET = 0.02;

// Adobe Flash Video File Format Specification 10.1, E.4.1: type, size and time, then the body, then the size of the tag.
const FLV_TAG = 11;
const FLV_TYPES: ReadonlySet<number> = new Set([8, 9, 18]);
const FLV_START = 13;
const FLV_TAIL = 512 * KIB;

interface FlvTag {
  type: number;
  /** Seconds. */
  time: number;
  /** Bytes with its header and its trailing size. */
  bytes: number;
  /** Whether it has pictures or sound. */
  plays: boolean;
}

function readFlvTag(view: DataView, at: number): FlvTag | null {
  if (at < 0 || at + FLV_TAG > view.byteLength || !FLV_TYPES.has(view.getUint8(at))) return null;
  if (view.getUint32(at + 8) >>> 8 !== 0) return null;
  const bytes = FLV_TAG + (view.getUint32(at) & 0xffffff) + 4;
  const time = ((view.getUint8(at + 7) << 24) | (view.getUint32(at + 4) >>> 8)) >>> 0;
  const type = view.getUint8(at);
  return { type, time: time / 1000, bytes, plays: type !== 18 && !isConfiguration(view, at, type) };
}

const FLV_CONFIGURED: ReadonlySet<number> = new Set([7, 12]);

// Configurations of H.264, H.265 and AAC, and of codecs with a four-character code, often have time 0 wherever the file starts.
function isConfiguration(view: DataView, at: number, type: number): boolean {
  if (at + FLV_TAG + 2 > view.byteLength) return false;
  const [first, second] = [view.getUint8(at + FLV_TAG), view.getUint8(at + FLV_TAG + 1)];
  if (type === 9 && first >= 0x80) return (first & 15) === 0;
  if (type === 8 && first >> 4 === 9) return (first & 15) === 0;
  return second === 0 && (type === 9 ? FLV_CONFIGURED.has(first & 15) : first >> 4 === 10);
}

async function measureFlv(file: Blocks, { fps = 25 }: Source): Promise<PacketLength | null> {
  const head = await file.view(0, FLV_TAIL);
  const first = findFirst(head);
  const from = Math.max(FLV_START, file.size - FLV_TAIL);
  const tail = await file.view(from, FLV_TAIL);
  const walk = from === FLV_START ? walkFlv(tail, 0) : walkFlv(tail, findFlvTag(tail));
  const last = walk.tags.filter(({ plays }) => plays);
  if (!first || last.length === 0) return null;
  const end = Math.max(
    ...last.map(({ type, time }) => time + (type === 9 ? 1 / Math.max(1, fps) : SOUND_PACKET)),
  );
  return { seconds: end - first.time, truncated: !walk.complete };
}

function findFirst(view: DataView): FlvTag | null {
  for (let at = FLV_START; ; ) {
    const tag = readFlvTag(view, at);
    if (!tag || tag.plays) return tag;
    at += tag.bytes;
  }
}

// A second tag right after it confirms a tag.
function findFlvTag(view: DataView): number {
  for (let at = 0; at + FLV_TAG < view.byteLength; at++) {
    const tag = readFlvTag(view, at);
    const next = tag && at + tag.bytes;
    if (tag && next && next <= view.byteLength && view.getUint32(next - 4) === tag.bytes - 4) return at;
  }
  return view.byteLength;
}

function walkFlv(view: DataView, start: number): { tags: FlvTag[]; complete: boolean } {
  const tags: FlvTag[] = [];
  for (let at = start; at < view.byteLength; ) {
    const tag = readFlvTag(view, at);
    if (!tag || at + tag.bytes > view.byteLength) return { tags, complete: false };
    tags.push(tag);
    at += tag.bytes;
  }
  return { tags, complete: true };
}

interface AviStream {
  type: string;
  /** Seconds of a unit, and the bytes of one; 0 for a unit per chunk. */
  unit: number;
  bytes: number;
  chunks: number;
  total: number;
}

const UNKNOWN_SIZE = 0x7fff_ff00;
const MAX_CHUNKS = 4_000_000;

// Microsoft, AVI RIFF File Reference: the streams' headers come first, then chunks such as `00dc` and `01wb`.
async function measureAvi(file: Blocks): Promise<PacketLength | null> {
  if (file.size > MAX_WALKED) return null;
  const streams: AviStream[] = [];
  let truncated = false;
  let at = 0;
  for (let count = 0; at + 8 <= file.size && count < MAX_CHUNKS; count++) {
    const view = await file.view(at, 64);
    const name = latinText(view, 0, 4);
    const size = view.getUint32(4, true);
    if (name === "RIFF" || name === "LIST") {
      at += 12;
      continue;
    }
    if (name === "strh") {
      const [scale, rate] = [view.getUint32(28, true), view.getUint32(32, true)];
      const type = latinText(view, 8, 4);
      streams.push({ type, unit: scale / rate, bytes: view.getUint32(52, true), chunks: 0, total: 0 });
    }
    const [, place] = /^(\d\d)(?:d[bc]|wb)$/.exec(name) ?? [];
    const stream = place === undefined ? undefined : streams[Number(place)];
    if (place === undefined && !/^[\w ]{4}$/.test(name)) break;
    if (stream && at + 8 + size > file.size) {
      truncated = true;
      break;
    }
    if (stream) {
      stream.chunks++;
      stream.total += size;
    }
    at += 8 + size + (size & 1);
  }
  const lengths = streams
    .filter(({ type }) => type === "vids" || type === "auds")
    .map(
      ({ unit, bytes, chunks, total, type }) =>
        unit * (type === "auds" && bytes > 0 ? total / bytes : chunks),
    );
  const seconds = Math.max(0, ...lengths);
  return Number.isFinite(seconds) && seconds > 0 ? { seconds, truncated } : null;
}

interface RiffChunk {
  name: string;
  start: number;
  size: number;
}

async function listChunks(file: Blocks, isLittle: boolean): Promise<RiffChunk[]> {
  const chunks: RiffChunk[] = [];
  for (let at = 12; at + 8 <= file.size && chunks.length < 64; ) {
    const view = await file.view(at, 8);
    const chunk = { name: latinText(view, 0, 4), start: at + 8, size: view.getUint32(4, isLittle) };
    chunks.push(chunk);
    at = chunk.start + chunk.size + (chunk.size & 1);
  }
  return chunks;
}

// Audio Interchange File Format 1.3: COMM counts the frames, SSND holds them after eight bytes.
async function measureAiff(file: Blocks, { audio, codecs }: Source): Promise<PacketLength | null> {
  const chunks = await listChunks(createBlocks(file.reader, file.signal, 4 * KIB), false);
  const [comm, ssnd] = ["COMM", "SSND"].map((name) => chunks.find((chunk) => chunk.name === name));
  if (!comm || !ssnd || !audio || !codecs?.audio?.startsWith("pcm_")) return null;
  const head = await file.view(comm.start, 8);
  const frame = head.getUint16(0) * Math.ceil(head.getUint16(6) / 8);
  const offset = (await file.view(ssnd.start, 4)).getUint32(0);
  const end = ssnd.start + ssnd.size;
  const bytes = Math.min(end, file.size) - ssnd.start - 8 - offset;
  const seconds = Math.floor(bytes / frame) / audio.sample_rate;
  return seconds > 0 ? { seconds, truncated: end > file.size && ssnd.size < UNKNOWN_SIZE } : null;
}

// Programs that do not know the size in advance set all or almost all bits.
async function measureWav(file: Blocks): Promise<PacketLength | null> {
  const chunks = await listChunks(createBlocks(file.reader, file.signal, 4 * KIB), true);
  const data = chunks.find(({ name }) => name === "data");
  const truncated = data !== undefined && data.size < UNKNOWN_SIZE && data.start + data.size > file.size;
  return truncated ? { seconds: null, truncated } : null;
}

const W64_HEADER = 24;
const W64_FORM = 40;

// Sony Wave64: the name of a chunk has 16 bytes, and its size includes the header. Chunks start at multiples of 8 bytes.
async function measureW64(file: Blocks): Promise<PacketLength | null> {
  for (let [at, chunks] = [W64_FORM, 0]; at + W64_HEADER <= file.size && chunks < MAX_W64; chunks++) {
    const view = await file.view(at, W64_HEADER);
    const size = Number(view.getBigUint64(16, true));
    if (size < W64_HEADER) return null;
    if (latinText(view, 0, 4) === "data")
      return at + size > file.size ? { seconds: null, truncated: true } : null;
    at += Math.ceil(size / 8) * 8;
  }
  return null;
}

const MAX_W64 = 64;

const ASF = { header: 30, data: 50, broadcast: 1 } as const;
const ASF_PROPERTIES = 0xa1dcab8c;
const MAX_ASF = 256;
// The lengths of optional fields, by the two bits that state them.
const ASF_LENGTHS = [0, 1, 2, 4] as const;

// Advanced Systems Format, 3.2, 5.1 and 5.2: the data object follows the header and consists of packets of the same size.
async function measureAsf(file: Blocks): Promise<PacketLength | null> {
  const data = Number((await file.view(16, 8)).getBigUint64(0, true));
  let bytes = 0;
  for (let [at, objects] = [ASF.header, 0]; at + 104 <= data && objects < MAX_ASF; objects++) {
    const view = await file.view(at, 104);
    if (view.getUint32(0) === ASF_PROPERTIES) {
      const isKnown = (view.getUint32(88, true) & ASF.broadcast) === 0;
      if (isKnown && view.getUint32(92, true) === view.getUint32(96, true)) bytes = view.getUint32(92, true);
    }
    at += Math.max(W64_HEADER, Number(view.getBigUint64(16, true)));
  }
  const size = Number((await file.view(data + 16, 8)).getBigUint64(0, true));
  if (bytes === 0 || data + size <= file.size) return null;
  const first = data + ASF.data;
  const whole = Math.floor((file.size - first) / bytes);
  if (whole <= 0) return { seconds: 0, truncated: true };
  // The incomplete packet is sent when the last complete one ends.
  const next = first + whole * bytes;
  const last = next + ASF.header <= file.size ? next : next - bytes;
  return { seconds: sendTime(await file.view(last, ASF.header)), truncated: true, exact: true };
}

function sendTime(view: DataView): number {
  const correction = view.getUint8(0);
  const at = (correction & 0x80) === 0 ? 0 : 1 + (correction & 15);
  const flags = view.getUint8(at);
  let place = at + 2;
  for (const bits of [flags >> 5, flags >> 1, flags >> 3]) place += ASF_LENGTHS[bits & 3] ?? 0;
  return view.getUint32(place, true) / 1000;
}

const OGG_PAGE = 27;
const MAX_PAGE = OGG_PAGE + 255 + 255 * 255;
const OGG_PLACES = 8;

interface OggPage {
  opens: boolean;
  /** End of the last packet that finishes on the page; null for none. */
  granule: number | null;
  serial: number;
  bytes: number;
}

// RFC 3533, 6.
function readOggPage(view: DataView): OggPage | null {
  if (view.byteLength < OGG_PAGE || latinText(view, 0, 4) !== "OggS") return null;
  const segments = view.getUint8(26);
  if (view.byteLength < OGG_PAGE + segments) return null;
  let bytes = OGG_PAGE + segments;
  for (let place = 0; place < segments; place++) bytes += view.getUint8(OGG_PAGE + place);
  const granule = Number(view.getBigInt64(6, true));
  const opens = (view.getUint8(5) & 2) !== 0;
  return { opens, granule: granule < 0 ? null : granule, serial: view.getUint32(14, true), bytes };
}

interface OggSound {
  rate: number;
  channels: number;
  /** Samples at the start that prime the decoder. */
  skip: number;
}

interface OggLink {
  rates: Map<number, OggSound>;
  ends: Map<number, number>;
  begun: boolean;
}

// RFC 3533, 4: a file may chain logical streams, each with its own clock.
async function measureOgg(
  file: Blocks,
  _source: Source,
  maxBytes = MAX_WALKED,
): Promise<PacketLength | null> {
  if (file.size > maxBytes) {
    const restart = await findOggRestart(file);
    if (restart === "same") await refuseChainedOpus(file);
    return restart ? estimateOgg(file) : null;
  }
  const links: OggLink[] = [];
  let truncated = false;
  for (let at = 0; at < file.size; ) {
    const view = await file.view(at, OGG_PAGE + 255 + 32);
    const page = readOggPage(view);
    if (!page) return null;
    if (at + page.bytes > file.size) {
      truncated = true;
      break;
    }
    let link = links.at(-1);
    if (page.opens && (!link || link.begun)) {
      link = { rates: new Map(), ends: new Map(), begun: false };
      links.push(link);
    }
    if (!link) return null;
    if (page.opens) {
      const rate = oggRate(view, OGG_PAGE + view.getUint8(26));
      if (links.some(({ ends }) => ends.has(page.serial))) await refuseChainedOpus(file);
      if (rate) link.rates.set(page.serial, rate);
    } else {
      link.begun = true;
      if (page.granule !== null) link.ends.set(page.serial, page.granule);
    }
    at += page.bytes;
  }
  const lengths = links.map(({ rates, ends }) =>
    Math.max(...[...rates].map(([serial, { rate, skip }]) => ((ends.get(serial) ?? 0) - skip) / rate)),
  );
  const seconds = lengths.reduce((sum, length) => sum + length, 0);
  const layouts = links.map(({ rates }) =>
    [...rates.values()].map(({ rate, channels }) => `${rate} ${channels}`).join(),
  );
  const changes = new Set(layouts).size > 1;
  if (links.length > 1 && Number.isFinite(seconds) && seconds > 0)
    return { seconds, truncated, restarted: true, ...(changes && { changes }) };
  return truncated ? { seconds: null, truncated } : null;
}

function oggRate(view: DataView, at: number): OggSound | null {
  const name = latinText(view, at, 8);
  if (name === "OpusHead")
    return { rate: 48_000, channels: view.getUint8(at + 9), skip: view.getUint16(at + 10, true) };
  if (!name.startsWith("\u0001vorbis")) return null;
  return { rate: view.getUint32(at + 12, true), channels: view.getUint8(at + 11), skip: 0 };
}

// ffmpeg (5.1) takes the headers of a second stream with the same serial number for its sound.
async function refuseChainedOpus(file: Blocks): Promise<void> {
  const view = await file.view(0, OGG_PAGE + 255 + 32);
  if (latinText(view, OGG_PAGE + view.getUint8(26), 8) === "OpusHead") throw errors.chainedOpus();
}

async function findOggRestart(file: Blocks): Promise<"same" | "other" | null> {
  const last = new Map<number, number>();
  const first = readOggPage(await file.view(0, MAX_PAGE));
  for (let place = 1; place <= OGG_PLACES; place++) {
    const at = Math.floor(((file.size - MAX_PAGE) * place) / OGG_PLACES);
    const bytes = await file.reader.read({ start: at, end: at + MAX_PAGE }, file.signal);
    const view = viewOf(bytes);
    for (let offset = 0; offset + OGG_PAGE < bytes.length; offset++) {
      const page = view.getUint32(offset) === 0x4f676753 ? readOggPage(viewOf(bytes.subarray(offset))) : null;
      if (!page || page.granule === null) continue;
      if (page.granule < (last.get(page.serial) ?? 0)) return "same";
      last.set(page.serial, page.granule);
    }
  }
  return first !== null && last.size > 0 && !last.has(first.serial) ? "other" : null;
}

async function estimateOgg(file: Blocks): Promise<PacketLength | null> {
  const head = await file.view(0, OGG_PAGE + 255 + 32);
  const rate = readOggPage(head) && oggRate(head, OGG_PAGE + head.getUint8(26));
  const bytes = await file.view(0, BLOCK);
  let [granule, at] = [0, 0];
  for (;;) {
    const page =
      at + OGG_PAGE < bytes.byteLength
        ? readOggPage(new DataView(bytes.buffer, bytes.byteOffset + at, bytes.byteLength - at))
        : null;
    if (!page) break;
    granule = page.granule ?? granule;
    at += page.bytes;
  }
  if (!rate || granule === 0) return null;
  return {
    seconds: ((granule / rate.rate) * file.size) / at,
    truncated: false,
    restarted: true,
    estimated: true,
  };
}

// Most muxers write the end of each track as a tag, which counts unless it contradicts the header.
async function measureMatroska({ reader, signal }: Blocks, source: Source): Promise<PacketLength | null> {
  const { duration, streams = [] } = source;
  const playing = streams.filter(({ kind }) => kind === "video" || kind === "audio");
  const ends = playing.flatMap(({ end }) => end ?? []);
  const agrees = duration !== undefined && Math.abs(Math.max(...ends) - duration) < 1;
  if (agrees && ends.length === playing.length && ends.length > 1) return null;
  const times = await readBlockTimes(reader, signal);
  if (!times) return null;
  if (times.first === null) return { seconds: 0, truncated: true };
  if (times.last === null) return { seconds: null, truncated: times.truncated };
  const seconds = times.last - times.first + SOUND_PACKET;
  // Blocks do not state how long the last picture is shown, which may be as long as all before it.
  const isHeld = !times.truncated && duration !== undefined && duration > seconds && duration < 2 * seconds;
  return { seconds: isHeld ? null : seconds, truncated: times.truncated };
}
