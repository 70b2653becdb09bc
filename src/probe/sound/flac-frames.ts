import type { ByteReader } from "../../core/ports.ts";
import { MIB, viewOf } from "../../util/bytes.ts";
import { passTags } from "./sound-frames.ts";

// mediabunny (1.61) rejects frames whose header states the rate in kilohertz, such as 39, and trusts a wrong maximum frame size.

interface Header {
  samples: number;
  /** Hertz; 0 as the file's header says. */
  rate: number;
}

/** Where the frames begin, and the rate that the file's header says. */
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
const BLOCK = 2 * MIB;
// RFC 9639, 9.1.8 and 9.3.
const CRC_8 = tableOf(0x07, 8);
const CRC_16 = tableOf(0x8005, 16);

/** Adds up the seconds of a FLAC file's frames whose checksums are right; null when it is not FLAC. Rejects as the reader does. */
export async function measureFlac(reader: ByteReader, signal?: AbortSignal): Promise<number | null> {
  const start = await passMetadata(reader, signal);
  if (!start) return null;
  const counter = createCounter(start.rate);
  for (let at = start.at; at < reader.size; ) {
    const end = Math.min(reader.size, at + BLOCK);
    const bytes = await reader.read({ start: at, end }, signal);
    // A header may lie across two blocks.
    const length = end === reader.size ? bytes.length : bytes.length - FLAC_HEADER;
    counter.add(bytes, length);
    at += Math.max(1, length);
  }
  return counter.end();
}

async function passMetadata(reader: ByteReader, signal?: AbortSignal): Promise<Start | null> {
  let at = await passTags(reader, signal);
  const read = (length: number) =>
    reader.read({ start: at, end: Math.min(reader.size, at + length) }, signal);
  if (String.fromCharCode(...(await read(4))) !== "fLaC") return null;
  at += 4;
  let rate = 0;
  for (let last = false; !last && at < reader.size; ) {
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
 * A frame ends at the next header if its checksum is 0 there. Otherwise that header is a chance match or the frame is damaged, which
 * the following header decides.
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
    /** Reads so many bytes; those after them may complete a header. */
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
  // The number is written like UTF-8, in up to seven bytes.
  const ones = Math.clz32(~(number << 24));
  if (size === 0 || rate === RATE_NONE || isReserved || ones === 1 || ones > 7) return null;
  let next = at + 4 + Math.max(1, ones);
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
  return next < bytes.length && check === bytes[next] ? { samples, rate: hertz } : null;
}

function tableOf(polynomial: number, bits: 8 | 16): Uint16Array {
  const top = 1 << (bits - 1);
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << (bits - 8);
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & top ? polynomial : 0)) & (2 * top - 1);
    return crc;
  });
}
