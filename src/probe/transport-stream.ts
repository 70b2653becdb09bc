import { FFMPEG_FPS } from "../media/features/fps.ts";
import { mainStreamIds } from "../media/ffmpeg/ffprobe.ts";
import { mainStream } from "../media/main-tracks.ts";
import type { Source } from "../media/source.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes, KIB, MIB, viewOf } from "../util/bytes.ts";
import type { PacketLength } from "./durations.ts";
import * as errors from "./errors.ts";
import { createSoundChanges, type SoundChanges } from "./sound-frames.ts";

// ISO/IEC 13818-1, 2.4.3 (transport stream) and 2.5.3 (program stream).
const SYNC = 0x47;
const PACKET = 188;
// M2TS adds four bytes before each packet, and DVB may add 16 after it.
const SIZES = [PACKET, PACKET + 4, PACKET + 16] as const;
// This many consecutive packets prove the layout.
const ROW = 4;
const BLOCK = 2 * MIB;
/** Maximum bytes of a file that a probe reads completely; it samples a larger one. */
const MAX_WALKED = 16 * MIB;
const PLACES = 12;
const SAMPLE = 256 * KIB;

const HERTZ = 90_000;
const CYCLE = 2 ** 33;
// ffmpeg (5.1) continues a clock that goes back this far, or jumps ahead by more than the threshold in ffmpeg/trim.ts.
const MAX_BACK = 0.1 * HERTZ;
const MAX_AHEAD = 3600 * HERTZ;

/**
 * Checks that the main streams of an MPEG transport stream keep their identifiers and types to the end. When recordings with different
 * identifiers are joined, ffmpeg reads the later ones as extra streams, which an output would lack. Returns whether the sample rate or
 * the channels of the main sound change midway.
 *
 * @param report ffprobe's report on the file.
 * @throws `input_unsupported` when other streams take over.
 */
export async function checkProgram(
  report: unknown,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<{ soundChanges: boolean }> {
  const { format, streams = [] } = report as {
    format?: { format_name?: string };
    streams?: readonly { codec_type?: unknown; codec_name?: unknown; id?: unknown }[];
  };
  if (format?.format_name !== "mpegts") return { soundChanges: false };
  const ids = new Set(mainStreamIds(report).map(Number));
  const table = createProgramTable(ids);
  const sound = streams.find(({ codec_type, id }) => codec_type === "audio" && ids.has(Number(id)));
  const changes = createSoundChanges(sound && String(sound.codec_name));
  const soundId = Number(sound?.id);
  await readParts(reader, signal, (bytes) => {
    const payloads: Uint8Array[] = [];
    for (const packet of packetsIn(bytes)) {
      const fault = table.add(packet);
      if (fault) throw errors.programChanges({ change: fault });
      if (packet.id === soundId) payloads.push(packet.starts ? pesData(packet.payload) : packet.payload);
    }
    changes?.addBytes(concatBytes(payloads));
  });
  return { soundChanges: changes?.change() === true };
}

// 2.4.3.6; in MPEG-1 (ISO/IEC 11172-1, 2.4.3.3) stuffing, a buffer size and the times precede the data.
function pesData(packet: Uint8Array): Uint8Array {
  if (((packet[6] ?? 0) & 0xc0) === 0x80) return packet.subarray(9 + (packet[8] ?? 0));
  let at = 6;
  while (packet[at] === 0xff) at++;
  if (((packet[at] ?? 0) & 0xc0) === 0x40) at += 2;
  const kind = (packet[at] ?? 0) >> 4;
  return packet.subarray(at + (kind === 3 ? 10 : kind === 2 ? 5 : 1));
}

/**
 * Measures a transport or program stream whose clock restarts midway; null when it does not. Estimates the length of a file larger
 * than `maxBytes`. Adds the sound of a program stream to `sound`.
 */
export async function measureRestarts(
  reader: ByteReader,
  stream: "transport" | "program",
  signal: AbortSignal,
  maxBytes = MAX_WALKED,
  sound: SoundChanges | null = null,
): Promise<PacketLength | null> {
  const clock = createClock();
  const timesIn = stream === "transport" ? transportTimes : programTimes;
  const isWhole = reader.size <= maxBytes;
  const maxAhead = isWhole ? MAX_AHEAD : Number.POSITIVE_INFINITY;
  const use = (bytes: Uint8Array) => {
    for (const time of timesIn(bytes)) clock.add(time, maxAhead);
    sound?.addBytes(concatBytes([...programSound(bytes)]));
  };
  await readParts(reader, signal, use, maxBytes);
  const { seconds, restarts } = clock.end();
  const truncated = stream === "transport" && (await endsInPacket(reader, signal));
  if (restarts === 0) return truncated ? { seconds: null, truncated } : null;
  // The samples skip the time around each restart.
  const estimate = seconds * ((PLACES - 1) / Math.max(1, PLACES - 1 - restarts));
  return {
    seconds: isWhole ? seconds : estimate,
    truncated,
    restarted: true,
    ...(!isWhole && { estimated: true }),
  };
}

/**
 * Measures a program stream whose last pictures have no time, because several of them share a PES packet; ffprobe counts only to the last
 * time. Null when at most one picture follows it.
 */
export async function measureUnstamped(
  reader: ByteReader,
  source: Source,
  signal: AbortSignal,
): Promise<PacketLength | null> {
  const { duration = 0, fps = FFMPEG_FPS } = source;
  const pictures = mainStream(source, "video")?.duration;
  if (pictures === undefined) return null;
  const bytes = await reader.read({ start: Math.max(0, reader.size - SAMPLE), end: reader.size }, signal);
  const unstamped = countUnstamped(bytes);
  const seconds = Math.max(duration, pictures + unstamped / fps);
  return unstamped > 0 ? { seconds, truncated: false, exact: true } : null;
}

const CODES = { picture: 0x00, group: 0xb8 } as const;

// ISO/IEC 13818-2, 6.3.8 and 6.3.9: each picture states its place in its group. A time is that of the first picture that starts in a packet.
function countUnstamped(bytes: Uint8Array): number {
  let [base, next, last, stamped] = [0, 0, -1, -1];
  for (const { code, packet } of programPackets(bytes)) {
    if (!isPictures(code)) continue;
    let isTimed = pesTime(packet) !== null;
    for (let at = 6; at + 6 <= packet.length; at++) {
      if (packet[at] !== 0 || packet[at + 1] !== 0 || packet[at + 2] !== 1) continue;
      if (packet[at + 3] === CODES.group) base = next;
      if (packet[at + 3] !== CODES.picture) continue;
      const place = base + (((packet[at + 4] ?? 0) << 2) | ((packet[at + 5] ?? 0) >> 6));
      next = Math.max(next, place + 1);
      last = Math.max(last, place);
      if (isTimed) stamped = Math.max(stamped, place);
      isTimed = false;
    }
  }
  return stamped < 0 ? 0 : last - stamped;
}

/** Reads a whole file in blocks, or samples of one larger than `maxBytes`. */
async function readParts(
  reader: ByteReader,
  signal: AbortSignal,
  use: (bytes: Uint8Array) => void,
  maxBytes = MAX_WALKED,
): Promise<void> {
  const isWhole = reader.size <= maxBytes;
  const length = isWhole ? BLOCK : SAMPLE;
  const count = isWhole ? Math.ceil(reader.size / BLOCK) : PLACES;
  const step = isWhole ? BLOCK : (reader.size - SAMPLE) / (PLACES - 1);
  for (let place = 0; place < count; place++) {
    const start = Math.floor(place * step);
    // The table and the clock tolerate packets that overlapping blocks repeat.
    const end = Math.min(reader.size, start + length + (isWhole ? OVERLAP : 0));
    use(await reader.read({ start, end }, signal));
  }
}

const OVERLAP = ROW * (PACKET + 16);

async function endsInPacket(reader: ByteReader, signal: AbortSignal): Promise<boolean> {
  const tail = await reader.read({ start: Math.max(0, reader.size - TAIL), end: reader.size }, signal);
  for (let at = 0; at < tail.length; at++) {
    const size = tail[at] === SYNC ? SIZES.find((each) => isPacketRow(tail, at, each)) : undefined;
    if (size !== undefined) return ![0, PACKET].includes((tail.length - at) % size);
  }
  return false;
}

const TAIL = 64 * PACKET;

interface Packet {
  id: number;
  /** Whether its payload starts a section or a PES packet. */
  starts: boolean;
  payload: Uint8Array;
}

function* packetsIn(bytes: Uint8Array): Generator<Packet> {
  for (let at = 0; at + PACKET <= bytes.length; ) {
    const size = bytes[at] === SYNC ? SIZES.find((each) => isPacketRow(bytes, at, each)) : undefined;
    if (size === undefined) {
      at++;
      continue;
    }
    for (; bytes[at] === SYNC && at + PACKET <= bytes.length; at += size) {
      const flags = bytes[at + 3] ?? 0;
      const header = flags & 0x20 ? 5 + (bytes[at + 4] ?? 0) : 4;
      const id = (((bytes[at + 1] ?? 0) & 0x1f) << 8) | (bytes[at + 2] ?? 0);
      const hasPayload = (flags & 0x10) !== 0 && header < PACKET;
      const payload = hasPayload ? bytes.subarray(at + header, at + PACKET) : new Uint8Array();
      yield { id, starts: ((bytes[at + 1] ?? 0) & 0x40) !== 0, payload };
    }
  }
}

// The last packets of a file have fewer successors.
function isPacketRow(bytes: Uint8Array, at: number, size: number): boolean {
  for (let place = at; place < Math.min(bytes.length, at + ROW * size); place += size)
    if (bytes[place] !== SYNC) return false;
  return true;
}

type StreamTypes = ReadonlyMap<number, number>;

// A section has at least 8 bytes of header and 4 of checksum.
const MIN_SECTION = 12;

// 2.4.4.4 and 2.4.4.9: table 0 lists the programs, table 2 the streams of one with their types.
function createProgramTable(watched: ReadonlySet<number>) {
  let tables = new Map<number, number>();
  const programs = new Map<number, StreamTypes>();
  const sections = new Map<number, Uint8Array>();
  const types = new Map<number, number>();

  function complete({ id, starts, payload }: Packet): DataView | null {
    const before = starts ? new Uint8Array() : sections.get(id);
    if (!before || payload.length === 0) return null;
    const bytes = concatBytes([before, starts ? payload.subarray(1 + (payload[0] ?? 0)) : payload]);
    const length = 3 + ((((bytes[1] ?? 0) & 15) << 8) | (bytes[2] ?? 0));
    if (bytes.length < Math.max(MIN_SECTION, length)) {
      sections.set(id, bytes);
      return null;
    }
    sections.delete(id);
    const isInForce = ((bytes[5] ?? 0) & 1) !== 0;
    return isInForce && length >= MIN_SECTION ? viewOf(bytes.subarray(0, length - 4)) : null;
  }

  function readPrograms(view: DataView): void {
    if (view.getUint8(0) !== 0) return;
    tables = new Map();
    for (let at = 8; at + 4 <= view.byteLength; at += 4) {
      const program = view.getUint16(at);
      if (program !== 0) tables.set(view.getUint16(at + 2) & 0x1fff, program);
    }
    const numbers = new Set(tables.values());
    for (const program of programs.keys()) if (!numbers.has(program)) programs.delete(program);
  }

  function readStreams(view: DataView, program: number): errors.ProgramChange | null {
    if (view.byteLength < 12 || view.getUint8(0) !== 2 || view.getUint16(3) !== program) return null;
    const streams = new Map<number, number>();
    for (let at = 12 + (view.getUint16(10) & 0xfff); at + 5 <= view.byteLength; ) {
      streams.set(view.getUint16(at + 1) & 0x1fff, view.getUint8(at));
      at += 5 + (view.getUint16(at + 3) & 0xfff);
    }
    programs.set(program, streams);
    if ([...tables.values()].some((each) => !programs.has(each))) return null;
    return faultIn(new Map([...programs.values()].flatMap((each) => [...each])));
  }

  function faultIn(streams: StreamTypes): errors.ProgramChange | null {
    for (const id of watched) {
      const [before, type] = [types.get(id), streams.get(id)];
      if (before !== undefined && type === undefined) return "streams";
      if (before !== undefined && before !== type) return "types";
      if (type !== undefined) types.set(id, type);
    }
    return null;
  }

  return {
    /** Adds a packet; returns the fault, if any, of a table that it completes. */
    add(packet: Packet): errors.ProgramChange | null {
      const program = tables.get(packet.id);
      if (packet.id !== 0 && program === undefined) return null;
      const section = complete(packet);
      if (!section) return null;
      if (program !== undefined) return readStreams(section, program);
      readPrograms(section);
      return null;
    },
  };
}

interface StreamTime {
  stream: number;
  isVideo: boolean;
  time: number;
}

function* transportTimes(bytes: Uint8Array): Generator<StreamTime> {
  for (const { id, starts, payload } of packetsIn(bytes)) {
    const time = starts ? pesTime(payload) : null;
    if (time !== null) yield { stream: id, isVideo: isPictures(payload[3] ?? 0), time };
  }
}

const PACK = 0xba;
const FIRST_PES = 0xbb;

/** Yields the PES packets in bytes of a program stream with their stream ids; the last may be cut off. */
function* programPackets(bytes: Uint8Array): Generator<{ code: number; packet: Uint8Array }> {
  for (let at = 0; at + 9 <= bytes.length; ) {
    const code = bytes[at + 3] ?? 0;
    if (bytes[at] !== 0 || bytes[at + 1] !== 0 || bytes[at + 2] !== 1 || code < PACK) {
      at++;
    } else if (code < FIRST_PES) {
      at += 4;
    } else {
      const end = at + 6 + (((bytes[at + 4] ?? 0) << 8) | (bytes[at + 5] ?? 0));
      yield { code, packet: bytes.subarray(at, end) };
      at = end;
    }
  }
}

const isPictures = (code: number) => (code & 0xf0) === 0xe0;

function* programTimes(bytes: Uint8Array): Generator<StreamTime> {
  for (const { code, packet } of programPackets(bytes)) {
    const time = pesTime(packet);
    if (time !== null) yield { stream: code, isVideo: isPictures(code), time };
  }
}

const PRIVATE = 0xbd;
// DVD-Video: the id of the substream, the number of frames and the position of the first precede the frames of AC-3.
const PRIVATE_HEADER = 4;

/** Yields the data of the first sound stream from bytes of a program stream. */
function* programSound(bytes: Uint8Array): Generator<Uint8Array> {
  let [main, substream] = [0, 0];
  for (const { code, packet } of programPackets(bytes)) {
    const isSound = code === PRIVATE || (code >= 0xc0 && code < 0xe0);
    const isWhole = packet.length === 6 + (((packet[4] ?? 0) << 8) | (packet[5] ?? 0));
    if (!isSound || !isWhole) continue;
    const data = pesData(packet);
    const own = code === PRIVATE ? (data[0] ?? 0) : 0;
    if (main === 0) [main, substream] = [code, own];
    if (code === main && own === substream) yield code === PRIVATE ? data.subarray(PRIVATE_HEADER) : data;
  }
}

/** Returns the decoding time in a PES header, otherwise its presentation time, in ticks; null for none. */
function pesTime(packet: Uint8Array): number | null {
  const [zero, one, two, code = 0] = packet;
  const isMedia = (code >= 0xc0 && code <= 0xef) || code === 0xbd || code === 0xfd;
  if (zero !== 0 || one !== 0 || two !== 1 || !isMedia) return null;
  // 2.4.3.7; in MPEG-1 (ISO/IEC 11172-1, 2.4.3.3) the times follow stuffing and a buffer size.
  if (((packet[6] ?? 0) & 0xc0) === 0x80) {
    const flags = (packet[7] ?? 0) >> 6;
    return flags === 3 ? ticksAt(packet, 14) : flags === 2 ? ticksAt(packet, 9) : null;
  }
  let place = 6;
  while (packet[place] === 0xff && place < 22) place++;
  if (((packet[place] ?? 0) & 0xc0) === 0x40) place += 2;
  const kind = (packet[place] ?? 0) >> 4;
  return kind === 3 ? ticksAt(packet, place + 5) : kind === 2 ? ticksAt(packet, place) : null;
}

function ticksAt(bytes: Uint8Array, at: number): number | null {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = bytes.subarray(at, at + 5);
  // Each of the three parts ends with a marker bit.
  if ((a & c & e & 1) === 0) return null;
  return ((a >> 1) & 7) * 2 ** 30 + (b << 22) + ((c >> 1) << 15) + (d << 7) + (e >> 1);
}

interface StreamClock {
  isVideo: boolean;
  seconds: number;
  restarts: number;
  last: number;
  /** Seconds between its last two times. */
  step: number;
  /** A time that restarts the clock if the next one confirms it. */
  candidate: number | null;
}

// Maximum step between consecutive times of one stream.
const MAX_STEP = 10 * HERTZ;

/** Adds up the times of one stream across restarts: the first with pictures, otherwise the first of all. */
function createClock() {
  const streams = new Map<number, StreamClock>();
  return {
    add({ stream, isVideo, time }: StreamTime, maxAhead: number): void {
      const clock = streams.get(stream);
      if (!clock) {
        streams.set(stream, { isVideo, seconds: 0, restarts: 0, last: time, step: 0, candidate: null });
        return;
      }
      const gap = gapOf(clock.last, time);
      const isJump = gap < -MAX_BACK || gap > maxAhead;
      if (isJump && (clock.candidate === null || Math.abs(gapOf(clock.candidate, time)) > MAX_STEP)) {
        clock.candidate = time;
        return;
      }
      if (isJump && clock.candidate !== null) {
        const since = Math.max(0, gapOf(clock.candidate, time)) / HERTZ;
        clock.restarts++;
        clock.seconds += clock.step + since;
        clock.last = time;
      } else if (gap > 0) {
        clock.seconds += gap / HERTZ;
        if (gap < HERTZ) clock.step = gap / HERTZ;
        clock.last = time;
      }
      clock.candidate = null;
    },
    end(): { seconds: number; restarts: number } {
      const all = [...streams.values()];
      const clock = all.find(({ isVideo }) => isVideo) ?? all[0];
      return { seconds: (clock?.seconds ?? 0) + (clock?.step ?? 0), restarts: clock?.restarts ?? 0 };
    },
  };
}

// The 33-bit clock wraps after 26.5 hours.
function gapOf(before: number, after: number): number {
  return ((((after - before + CYCLE / 2) % CYCLE) + CYCLE) % CYCLE) - CYCLE / 2;
}
