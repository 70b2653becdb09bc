import type { ByteReader } from "../runs/ports.ts";
import { KIB, latinText, MIB, viewOf } from "../util/bytes.ts";
import type { PacketLength } from "./durations.ts";
import { id3Size } from "./mp3.ts";

// mediabunny (1.61) and ffprobe estimate durations from the bitrate at the start: a tenth off for uneven frames (test/probe/sound-frames).

export interface SoundLength {
  /** Duration in seconds; null if there are too many frames to read. */
  seconds: number | null;
  /** Whether the sample rate or the channels change midway. */
  changes?: true;
}

const MAX_COUNTED = 32 * MIB;
const MIN_SHARE = 0.5;
const BLOCK = 2 * MIB;
const FIRST = 64;
const TAG_HEADER = 10;
// A crafted file may consist of empty tags or empty blocks, each of which takes a read.
const MAX_TAGS = 64;
const MAX_METADATA_BLOCKS = 1024;

/**
 * Adds up the frames of a raw audio file of at most `maxBytes` bytes; null for any other format, and for an MP3 whose first
 * frame states a credible total. Rejects as the reader does.
 */
export async function measureFrames(
  reader: ByteReader,
  format: string,
  signal: AbortSignal,
  maxBytes = MAX_COUNTED,
): Promise<SoundLength | null> {
  const readFrame = FRAMES[format];
  if (!readFrame) return null;
  const tags = await skipTags(reader, signal);
  const head = await reader.read({ start: tags, end: Math.min(reader.size, tags + FIRST) }, signal);
  const [tag = ""] = TAG_FRAME.exec(latinText(viewOf(head), 0, head.length)) ?? [];
  if (tag !== "" && tag !== "VBRI" && (await isCredible(reader, tags, signal))) return null;
  // Decoders skip the frame that holds the tag.
  const start = tags + (tag === "" ? 0 : (readFrame(head, 0)?.bytes ?? 0));
  return reader.size - start > maxBytes ? { seconds: null } : countAll(reader, start, readFrame, signal);
}

const TAG_FRAME = /Xing|Info|VBRI/;

// Counts every frame when the samples' average bitrate deviates further than this from the whole's.
const MAX_DEPARTURE = 1.25;
// The probe has already read the first sample.
const SAMPLE = 16_384;
const SAMPLE_PLACES = [0.1, 0.3, 0.5, 0.7, 0.9] as const;
// The byte count excludes tags at the end of the file.
const MAX_TRAILER = 64 * KIB;
// Larger steps of the table of contents do not resolve the first sample.
const MAX_STEP = SAMPLE / 6;

// Editors that cut or join a file often leave its tag unchanged.
async function isCredible(reader: ByteReader, start: number, signal: AbortSignal): Promise<boolean> {
  const sampleAt = async (from: number) => {
    const bytes = await reader.read({ start: from, end: Math.min(reader.size, from + SAMPLE) }, signal);
    return { ...walk(bytes, readMpeg, false), bytes };
  };
  const first = await sampleAt(start);
  const tag = readXing(first.bytes);
  const frame = readMpeg(first.bytes, 0);
  if (!frame || !tag?.frames) return false;
  const size = reader.size - start;
  if (tag.bytes !== null && Math.abs(tag.bytes - size) > Math.max(MAX_TRAILER, size / 50)) return false;
  const duration = tag.frames * frame.seconds;
  const isNear = (departure: number) => departure <= MAX_DEPARTURE && departure >= 1 / MAX_DEPARTURE;
  const agrees = (samples: readonly { seconds: number; counted: number }[]) => {
    const seconds = samples.reduce((sum, sample) => sum + sample.seconds, 0);
    const counted = samples.reduce((sum, sample) => sum + sample.counted, 0);
    return isNear((duration * counted) / (size * seconds));
  };
  const share = tag.table && size / 256 <= MAX_STEP ? shareOf(tag.table, (first.counted / size) * 256) : null;
  if (share !== null) return isNear((share * duration) / first.seconds);
  if (agrees([first])) return true;
  const places = SAMPLE_PLACES.map((place) => start + Math.floor(size * place));
  return agrees(await Promise.all(places.map(sampleAt)));
}

interface XingTag {
  frames: number | null;
  bytes: number | null;
  /** The position of each hundredth of the time, in 256ths of the bytes. */
  table: Uint8Array | null;
}

// gabriel.mp3-tech.org/mp3infotag.html: flags say which fields follow.
function readXing(bytes: Uint8Array): XingTag | null {
  const at = latinText(viewOf(bytes), 0, Math.min(FIRST, bytes.length)).search(/Xing|Info/);
  if (at < 0 || at + 124 > bytes.length) return null;
  const view = viewOf(bytes);
  const flags = view.getUint32(at + 4);
  let next = at + 8;
  const number = (flag: number) => {
    if ((flags & flag) === 0) return null;
    next += 4;
    return view.getUint32(next - 4);
  };
  const [frames, size] = [number(1), number(2)];
  return { frames, bytes: size, table: flags & 4 ? bytes.subarray(next, next + 100) : null };
}

// Share of the duration at which the table reaches a position.
function shareOf(table: Uint8Array, position: number): number {
  const next = table.findIndex((value) => value > position);
  if (next < 0) return 1;
  const [before, after] = [table[next - 1] ?? 0, table[next] ?? 0];
  return (next - 1 + (position - before) / Math.max(1, after - before)) / 100;
}

async function countAll(
  reader: ByteReader,
  start: number,
  readFrame: ReadFrame,
  signal: AbortSignal,
): Promise<SoundLength | null> {
  let [seconds, counted] = [0, 0];
  const layouts = createLayouts();
  for (let at = start; at < reader.size; ) {
    const end = Math.min(reader.size, at + BLOCK);
    const bytes = await reader.read({ start: at, end }, signal);
    const walked = walk(bytes, readFrame, end === reader.size);
    seconds += walked.seconds;
    counted += walked.counted;
    for (const [layout, frames] of walked.layouts) layouts.add(layout, frames);
    at += Math.max(1, walked.bytes);
  }
  if (counted <= (reader.size - start) * MIN_SHARE) return null;
  return { seconds, ...(layouts.change() && { changes: true }) };
}

// Random bytes may look like a frame or two of another layout.
const MIN_RUN = 8;

function createLayouts() {
  const counts = new Map<string, number>();
  return {
    add: (layout: string, frames: number) => counts.set(layout, (counts.get(layout) ?? 0) + frames),
    change: () => [...counts.values()].filter((frames) => frames >= MIN_RUN).length > 1,
  };
}

/** Detects changes of the sample rate or the channels from parts of the sound in another container. */
export interface SoundChanges {
  /** Adds consecutive bytes of the sound, which may begin and end within frames. */
  addBytes(bytes: Uint8Array): void;
  /** Adds the frame that starts at an offset in bytes. */
  addFrame(bytes: Uint8Array, at: number): void;
  /** Whether the sound changes within the added parts. */
  change(): boolean;
}

/** Returns a {@link SoundChanges} for a codec; null for a codec whose frames do not state their sample rate and channels. */
export function createSoundChanges(codec: string | null | undefined): SoundChanges | null {
  const readFrame = CODEC_FRAMES[codec ?? ""];
  if (!readFrame) return null;
  const layouts = createLayouts();
  return {
    addBytes(bytes) {
      for (const [layout, frames] of walk(bytes, readFrame, false).layouts) layouts.add(layout, frames);
    },
    addFrame(bytes, at) {
      const { layout } = readFrame(bytes, at) ?? {};
      if (layout) layouts.add(layout, 1);
    },
    change: layouts.change,
  };
}

function walk(bytes: Uint8Array, readFrame: ReadFrame, last: boolean) {
  const layouts = new Map<string, number>();
  const sum = { seconds: 0, bytes: 0, counted: 0, layouts };
  let at = 0;
  let synced = false;
  while (at + TAG_HEADER <= bytes.length) {
    const frame = readFrame(bytes, at);
    const next = frame ? at + frame.bytes : 0;
    const follows: boolean =
      frame !== null && (synced || next + TAG_HEADER > bytes.length || readFrame(bytes, next) !== null);
    if (follows && next > bytes.length && !last) break;
    synced = follows && next <= bytes.length;
    if (!frame || !synced) {
      at++;
      continue;
    }
    sum.seconds += frame.seconds;
    sum.counted += frame.bytes;
    if (frame.layout) layouts.set(frame.layout, (layouts.get(frame.layout) ?? 0) + 1);
    at = next;
  }
  sum.bytes = last ? bytes.length : at;
  return sum;
}

async function skipTags(reader: ByteReader, signal?: AbortSignal): Promise<number> {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    const head = await reader.read({ start: at, end: Math.min(reader.size, at + TAG_HEADER) }, signal);
    const size = id3Size(head);
    if (size === 0) break;
    at += size;
  }
  return at;
}

interface Frame {
  bytes: number;
  seconds: number;
  /** Sample rate, channels and layer; absent for frames that are not compared. */
  layout?: string;
}

// ISO/IEC 14496-3, table 1.18.
const ADTS_RATES = [96, 88.2, 64, 48, 44.1, 32, 24, 22.05, 16, 12, 11.025, 8, 7.35].map((khz) => khz * 1000);
// ISO/IEC 11172-3, 2.4.2.3 and 13818-3, 2.4.2.3: kbit/s of MPEG-1 layers I to III, then of MPEG-2 layer I, and II and III.
const BITRATES = [
  [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const MPEG_RATES = [44_100, 48_000, 32_000] as const;

// ETSI TS 102 366, 4.4.1 and table F.4.1: kbit/s of each pair of codes.
const AC3_BITRATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
const AC3_RATES = [48_000, 44_100, 32_000] as const;
// ETSI TS 102 366, E.1.3.1.4.
const EAC3_BLOCKS = [1, 2, 3, 6] as const;
// ETSI TS 102 114, table 5-5.
const DTS_RATES = [0, 8, 16, 32, 0, 0, 11.025, 22.05, 44.1, 0, 0, 12, 24, 48].map((khz) => khz * 1000);

/** Parses a frame's header, given at least ten bytes; null when it is not one. */
type ReadFrame = (bytes: Uint8Array, at: number) => Frame | null;

/** Formats without an index, whose duration takes counting their frames. */
const FRAMES: Readonly<Record<string, ReadFrame>> = {
  aac: readAdts,
  mp3: readMpeg,
  ac3: readAc3,
  eac3: readAc3,
  dts: readDts,
};

const CODEC_FRAMES: Readonly<Record<string, ReadFrame>> = {
  aac: readAdts,
  mp1: readMpeg,
  mp2: readMpeg,
  mp3: readMpeg,
  ac3: readAc3,
  eac3: readAc3,
};

function readAdts(bytes: Uint8Array, at: number): Frame | null {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0] = bytes.subarray(at, at + 7);
  const rate = ADTS_RATES[(b2 >> 2) & 15];
  const length = ((b3 & 3) << 11) | (b4 << 3) | (b5 >> 5);
  if (b0 !== 0xff || (b1 & 0xf6) !== 0xf0 || !rate || length < 7) return null;
  const channels = ((b2 & 1) << 2) | (b3 >> 6);
  return { bytes: length, seconds: (1024 * ((b6 & 3) + 1)) / rate, layout: `${rate} ${channels}` };
}

function readMpeg(bytes: Uint8Array, at: number): Frame | null {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0] = bytes.subarray(at, at + 4);
  const version = (b1 >> 3) & 3;
  const layer = 4 - ((b1 >> 1) & 3);
  const first = version === 3;
  const rows = BITRATES[first ? layer - 1 : layer === 1 ? 3 : 4];
  const bitrate = rows?.[(b2 >> 4) - 1];
  const full = MPEG_RATES[(b2 >> 2) & 3];
  if (b0 !== 0xff || (b1 & 0xe0) !== 0xe0 || version === 1 || layer === 4 || !bitrate || !full) return null;
  const rate = first ? full : version === 2 ? full / 2 : full / 4;
  const samples = layer === 1 ? 384 : layer === 3 && !first ? 576 : 1152;
  const padding = (b2 >> 1) & 1;
  const slot = layer === 1 ? 4 : 1;
  const slots = Math.floor((samples / 8 / slot) * ((bitrate * 1000) / rate)) + padding;
  const channels = b3 >> 6 === 3 ? 1 : 2;
  return { bytes: slots * slot, seconds: samples / rate, layout: `${rate} ${channels} ${layer}` };
}

function readAc3(bytes: Uint8Array, at: number): Frame | null {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0] = bytes.subarray(at, at + 7);
  const version = b5 >> 3;
  if (b0 !== 0x0b || b1 !== 0x77 || version > 16) return null;
  const full = AC3_RATES[b4 >> 6];
  if (version <= 10) {
    const kbit = AC3_BITRATES[(b4 & 63) >> 1];
    if (!full || !kbit) return null;
    const words = Math.floor((kbit * 96_000) / full) + (full === 44_100 ? b4 & 1 : 0);
    const own = full / 2 ** Math.max(0, version - 8);
    return { bytes: words * 2, seconds: 1536 / own, layout: `${own} ${b6 >> 5}` };
  }
  const half = AC3_RATES[(b4 >> 4) & 3];
  const rate = full ?? (half && half / 2);
  if (!rate) return null;
  const blocks = full ? (EAC3_BLOCKS[(b4 >> 4) & 3] ?? 6) : 6;
  // Dependent and additional substreams play along with the first.
  const first = b2 >> 6 !== 1 && ((b2 >> 3) & 7) === 0;
  return {
    bytes: ((((b2 & 7) << 8) | b3) + 1) * 2,
    seconds: first ? (blocks * 256) / rate : 0,
    ...(first && { layout: `${rate} ${(b4 >> 1) & 7}` }),
  };
}

function readDts(bytes: Uint8Array, at: number): Frame | null {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0, b7 = 0, b8 = 0, b9 = 0] = bytes.subarray(
    at,
    at + 10,
  );
  const sync = ((b0 << 24) | (b1 << 16) | (b2 << 8) | b3) >>> 0;
  // An extension of the previous frame (DTS-HD).
  if (sync === 0x64582025) {
    const wide = ((b6 & 1) << 19) | (b7 << 11) | (b8 << 3) | (b9 >> 5);
    const narrow = ((b6 & 31) << 11) | (b7 << 3) | (b8 >> 5);
    return { bytes: ((b5 >> 5) & 1 ? wide : narrow) + 1, seconds: 0 };
  }
  const rate = DTS_RATES[(b8 >> 2) & 15];
  if (sync !== 0x7ffe8001 || !rate) return null;
  const blocks = (((b4 & 1) << 6) | (b5 >> 2)) + 1;
  return { bytes: (((b5 & 3) << 12) | (b6 << 4) | (b7 >> 4)) + 1, seconds: (blocks * 32) / rate };
}

// mediabunny (1.61) rejects frames whose header states the rate in kilohertz, such as 39, and trusts a wrong maximum frame size.

interface Header {
  samples: number;
  /** Hertz; 0 for the rate in STREAMINFO. */
  rate: number;
  /** Number of its first sample, or of the frame if the block size is fixed. */
  number: number;
  fixed: boolean;
}

interface Start {
  at: number;
  rate: number;
}

// RFC 9639, 9.1.2, by code.
const RATES = [0, 88_200, 176_400, 192_000, 8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
const [RATE_KHZ, RATE_HZ, RATE_TENS, RATE_NONE] = [12, 13, 14, 15];
// RFC 9639, 9.1.1: the block size follows, in one byte or in two.
const [SIZE_BYTE, SIZE_PAIR] = [6, 7];
const FLAC_HEADER = 16;
const STREAMINFO = 34;
const FLAC_FRAMES_BLOCK = 2 * MIB;
// RFC 9639, 9.1.8 and 9.3.
const CRC_8 = tableOf(0x07, 8);
const CRC_16 = tableOf(0x8005, 16);

/** Adds up the durations of a FLAC file's frames with valid checksums, in seconds; null when it is not FLAC. Rejects as the reader does. */
export async function measureFlac(reader: ByteReader, signal?: AbortSignal): Promise<number | null> {
  const start = await skipMetadata(reader, signal);
  if (!start) return null;
  const counter = createCounter(start.rate);
  for (let at = start.at; at < reader.size; ) {
    const end = Math.min(reader.size, at + FLAC_FRAMES_BLOCK);
    const bytes = await reader.read({ start: at, end }, signal);
    const length = end === reader.size ? bytes.length : bytes.length - FLAC_HEADER;
    counter.add(bytes, length);
    at += Math.max(1, length);
  }
  return counter.end();
}

const FLAC_TAIL = 256 * KIB;
// An ID3v1 tag may follow the last frame.
const ID3V1 = 128;

/**
 * Measures a FLAC file by the number of its last complete frame; null when there is none near its end, or it is not FLAC. Rejects as
 * the reader does.
 */
export async function measureFlacEnd(reader: ByteReader, signal?: AbortSignal): Promise<PacketLength | null> {
  const start = await skipMetadata(reader, signal);
  if (!start) return null;
  const from = Math.max(start.at, reader.size - FLAC_TAIL);
  const bytes = await reader.read({ start: from, end: reader.size }, signal);
  let previous: Header | null = null;
  let last: { header: Header; block: number; at: number; misnumbered: boolean } | null = null;
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const header = readHeader(bytes, at);
    if (!header) continue;
    const before: Header | null = previous;
    const isFirst = from === start.at && at === 0;
    const step = before ? header.number - before.number : 0;
    // Flake 0.11 numbered samples without saying so, and ffmpeg multiplies the numbers by the size of a block.
    const misnumbered = before?.fixed === true && step === before.samples;
    const follows = before && (misnumbered || step === (before.fixed ? 1 : before.samples));
    if (isFirst || follows) last = { header, block: before?.samples ?? header.samples, at, misnumbered };
    if (isFirst || follows || !last) previous = header;
  }
  if (!last) return null;
  const { header, block, at, misnumbered } = last;
  const rate = header.rate || start.rate;
  const truncated = ![bytes.length, bytes.length - ID3V1].some(
    (end) => end > at && crcOf(bytes, at, end) === 0,
  );
  const first = header.fixed && !misnumbered ? header.number * block : header.number;
  const seconds = (first + (truncated ? 0 : header.samples)) / rate;
  if (rate <= 0) return null;
  return { seconds, truncated, ...(truncated && { exact: true }), ...(misnumbered && { restarted: true }) };
}

function crcOf(bytes: Uint8Array, start: number, end: number): number {
  let crc = 0;
  for (let at = start; at < end; at++)
    crc = ((crc << 8) & 0xffff) ^ (CRC_16[(crc >> 8) ^ (bytes[at] ?? 0)] ?? 0);
  return crc;
}

async function skipMetadata(reader: ByteReader, signal?: AbortSignal): Promise<Start | null> {
  let at = await skipTags(reader, signal);
  const read = (length: number) =>
    reader.read({ start: at, end: Math.min(reader.size, at + length) }, signal);
  if (String.fromCharCode(...(await read(4))) !== "fLaC") return null;
  at += 4;
  let rate = 0;
  let last = false;
  for (let blocks = 0; !last && at < reader.size; blocks++) {
    if (blocks === MAX_METADATA_BLOCKS) return null;
    const block = await read(4 + STREAMINFO);
    if (block.length < 4) return null;
    const head = viewOf(block).getUint32(0);
    last = head >>> 31 === 1;
    if ((head >>> 24) % 128 === 0 && block.length === 4 + STREAMINFO)
      rate = viewOf(block).getUint32(14) >>> 12;
    at += 4 + (head & 0xffffff);
  }
  return { at, rate };
}

/**
 * A frame ends at the next header if its checksum is 0 there. Otherwise that header is a false match or the frame is damaged; the
 * following header decides.
 */
function createCounter(streamRate: number) {
  let frame: Header | null = null;
  let doubt: Header | null = null;
  let [crc, doubtCrc, seconds] = [0, 0, 0];
  const count = ({ samples, rate }: Header) => {
    seconds += samples / (rate || streamRate || 1);
  };

  function meet(header: Header): void {
    const ended = crc === 0 ? frame : doubtCrc === 0 ? doubt : null;
    if (ended || !frame) {
      if (ended) count(ended);
      [frame, crc, doubt] = [header, 0, null];
    } else {
      [doubt, doubtCrc] = [header, 0];
    }
  }

  return {
    /** Processes `length` bytes; the bytes after them may complete a header. */
    add(bytes: Uint8Array, length: number): void {
      for (let at = 0; at < length; at++) {
        const byte = bytes[at] ?? 0;
        const header = byte === 0xff ? readHeader(bytes, at) : null;
        if (header) meet(header);
        crc = ((crc << 8) & 0xffff) ^ (CRC_16[(crc >> 8) ^ byte] ?? 0);
        if (doubt) doubtCrc = ((doubtCrc << 8) & 0xffff) ^ (CRC_16[(doubtCrc >> 8) ^ byte] ?? 0);
      }
    },
    end(): number {
      const last = crc === 0 ? frame : doubtCrc === 0 ? doubt : null;
      if (last) count(last);
      return seconds;
    },
  };
}

function readHeader(bytes: Uint8Array, at: number): Header | null {
  const [, sync = 0, codes = 0, layout = 0, number = 0] = bytes.subarray(at, at + 5);
  if ((sync & 0xfe) !== 0xf8) return null;
  const [size, rate] = [codes >> 4, codes & 15];
  const isReserved = layout >> 4 > 10 || ((layout >> 1) & 7) === 3 || (layout & 1) === 1;
  const ones = Math.clz32(~(number << 24));
  if (size === 0 || rate === RATE_NONE || isReserved || ones === 1 || ones > 7) return null;
  let next = at + 4 + Math.max(1, ones);
  let coded = ones === 0 ? number : number & (0x7f >> ones);
  for (let place = at + 5; place < next; place++) coded = coded * 64 + ((bytes[place] ?? 0) & 0x3f);
  const take = () => bytes[next++] ?? 0;
  const pair = () => take() * 256 + take();
  const samples =
    size === SIZE_BYTE
      ? take() + 1
      : size === SIZE_PAIR
        ? pair() + 1
        : size === 1
          ? 192
          : size < 6
            ? 144 << size
            : 1 << size;
  const hertz =
    rate === RATE_KHZ
      ? take() * 1000
      : rate === RATE_HZ
        ? pair()
        : rate === RATE_TENS
          ? pair() * 10
          : (RATES[rate] ?? 0);
  let check = 0;
  for (let index = at; index < next; index++) check = CRC_8[check ^ (bytes[index] ?? 0)] ?? 0;
  if (next >= bytes.length || check !== bytes[next]) return null;
  return { samples, rate: hertz, number: coded, fixed: (sync & 1) === 0 };
}

function tableOf(polynomial: number, bits: 8 | 16): Uint16Array {
  const top = 1 << (bits - 1);
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (bits - 8);
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & top ? polynomial : 0)) & (2 * top - 1);
    return crc;
  });
}
