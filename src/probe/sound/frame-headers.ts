/** One frame of raw sound, as its header describes it. */
interface Frame {
  bytes: number;
  seconds: number;
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
export type ReadFrame = (bytes: Uint8Array, at: number) => Frame | null;

/** Formats that consist of frames alone, so that their duration shows only by counting these. */
export const FRAMES: Readonly<Record<string, ReadFrame>> = {
  aac: readAdts,
  mp3: readMpeg,
  ac3: readAc3,
  eac3: readAc3,
  dts: readDts,
};

function readAdts(bytes: Uint8Array, at: number): Frame | null {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0] = bytes.subarray(at, at + 7);
  const rate = ADTS_RATES[(b2 >> 2) & 15];
  const length = ((b3 & 3) << 11) | (b4 << 3) | (b5 >> 5);
  if (b0 !== 0xff || (b1 & 0xf6) !== 0xf0 || !rate || length < 7) return null;
  return { bytes: length, seconds: (1024 * ((b6 & 3) + 1)) / rate };
}

function readMpeg(bytes: Uint8Array, at: number): Frame | null {
  const [b0 = 0, b1 = 0, b2 = 0] = bytes.subarray(at, at + 3);
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
  return { bytes: slots * slot, seconds: samples / rate };
}

function readAc3(bytes: Uint8Array, at: number): Frame | null {
  const [b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0] = bytes.subarray(at, at + 6);
  const version = b5 >> 3;
  if (b0 !== 0x0b || b1 !== 0x77 || version > 16) return null;
  const full = AC3_RATES[b4 >> 6];
  if (version <= 10) {
    const kbit = AC3_BITRATES[(b4 & 63) >> 1];
    if (!full || !kbit) return null;
    const words = Math.floor((kbit * 96_000) / full) + (full === 44_100 ? b4 & 1 : 0);
    return { bytes: words * 2, seconds: 1536 / (full / 2 ** Math.max(0, version - 8)) };
  }
  const half = AC3_RATES[(b4 >> 4) & 3];
  const rate = full ?? (half && half / 2);
  if (!rate) return null;
  const blocks = full ? (EAC3_BLOCKS[(b4 >> 4) & 3] ?? 6) : 6;
  // Further substreams play at the same time as the first.
  const first = b2 >> 6 !== 1 && ((b2 >> 3) & 7) === 0;
  return { bytes: ((((b2 & 7) << 8) | b3) + 1) * 2, seconds: first ? (blocks * 256) / rate : 0 };
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
