/** The stored pixel format of a stream, from its headers. */
export interface Pixels {
  /** ffmpeg's name, such as `yuv420p10le`. */
  pixel_format: string;
  bit_depth: number;
  /** Whether pictures are interlaced; null if the headers do not say. */
  interlaced: boolean | null;
}

/**
 * The inputs of {@link readPixels}: mediabunny's codec, its parameter string (RFC 6381), and the decoder configuration
 * record.
 */
export interface CodecHeaders {
  codec: string | null;
  parameters: string | null;
  description: Uint8Array | null;
  full_range: boolean;
}

const CHROMA = ["gray", "yuv420p", "yuv422p", "yuv444p"] as const;

/** Derives the pixel format from a stream's headers; null when only decoding a picture would show it. */
export function readPixels(headers: CodecHeaders): Pixels | null {
  const { codec, description, full_range } = headers;
  const parts = headers.parameters?.split(".") ?? [];
  switch (codec) {
    case "avc": {
      const avc = description && readAvcConfig(description);
      if (!avc) return null;
      // ffmpeg decodes 8-bit gray H.264 to 4:2:0.
      const chroma = avc.chroma === 0 && avc.bit_depth === 8 ? 1 : avc.chroma;
      return pixels(chroma, avc.bit_depth, full_range, avc.progressive ? false : null);
    }
    case "hevc":
      return description && readHevcConfig(description, full_range);
    case "vp8":
      return pixels(1, 8, false, false);
    case "vp9": {
      // vp09.<profile>.<level>.<depth>.<chroma>: 0 and 1 are 4:2:0, 2 is 4:2:2, 3 is 4:4:4.
      const chroma = [1, 1, 2, 3][Number(parts[4] ?? 1)] ?? 1;
      return parts.length < 4 ? null : pixels(chroma, Number(parts[3]), false, false);
    }
    case "av1": {
      // av01.<profile>.<level><tier>.<depth>.<monochrome>.<chroma>: 110 to 112 are 4:2:0, 100 4:2:2, 000 4:4:4.
      const [, profile, , depth, mono, subsampling] = parts;
      const byProfile = ["11", "00", "10"][Number(profile)];
      const chroma = { "11": 1, "10": 2, "00": 3 }[(subsampling ?? byProfile ?? "11").slice(0, 2)];
      if (depth === undefined || chroma === undefined) return null;
      return pixels(mono === "1" ? 0 : chroma, Number(depth), false, false);
    }
    default:
      return null;
  }
}

// HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, 8.3.3.1): the profile's flags in byte 6, chroma in 16, depth in 17.
function readHevcConfig(record: Uint8Array, full_range: boolean): Pixels | null {
  const [flags = 0, chroma = 0, depth = 0] = [record[6], record[16], record[17]];
  if (record[0] !== 1 || record.length < 23) return null;
  const interlaced = (flags & 0x40) !== 0 && (flags & 0x80) === 0;
  return pixels(chroma & 3, 8 + (depth & 7), full_range, interlaced);
}

function pixels(
  chroma: number,
  bit_depth: number,
  full_range: boolean,
  interlaced: boolean | null,
): Pixels | null {
  const plain = CHROMA[chroma];
  if (!plain || ![8, 9, 10, 12, 14].includes(bit_depth)) return null;
  const deep = bit_depth === 8 ? plain : `${plain}${bit_depth}le`;
  const jpeg = full_range && bit_depth === 8 && plain !== "gray";
  return { pixel_format: jpeg ? plain.replace("yuv", "yuvj") : deep, bit_depth, interlaced };
}

/** The picture format from an H.264 sequence parameter set. */
export interface AvcPictures {
  /** 0 gray, 1 4:2:0, 2 4:2:2, 3 4:4:4. */
  chroma: number;
  bit_depth: number;
  /** Whether all pictures are progressive; if false, some may be stored as fields; only their headers tell. */
  progressive: boolean;
}

// ITU-T H.264, 7.3.2.1.1: profiles whose parameter sets state chroma and depth.
const HIGH_PROFILES: ReadonlySet<number> = new Set([
  100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
]);

/** Parses the first parameter set of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1); null when there is none. */
function readAvcConfig(record: Uint8Array): AvcPictures | null {
  const sets = (record[5] ?? 0) & 0x1f;
  const length = ((record[6] ?? 0) << 8) | (record[7] ?? 0);
  if (record[0] !== 1 || sets === 0 || length < 4 || record.length < 8 + length) return null;
  return readSps(record.subarray(8, 8 + length));
}

/** Parses a sequence parameter set of H.264 (ITU-T H.264, 7.3.2.1.1); null if it is damaged. */
export function readSps(unit: Uint8Array): AvcPictures | null {
  const bits = createBits(withoutEmulation(unit.subarray(1)));
  const profile = bits.take(8);
  bits.take(16);
  bits.unsigned();
  let chroma = 1;
  let bit_depth = 8;
  if (HIGH_PROFILES.has(profile)) {
    chroma = bits.unsigned();
    if (chroma === 3) bits.take(1);
    bit_depth = 8 + bits.unsigned();
    bits.unsigned();
    bits.take(1);
    if (bits.take(1)) skipScaling(bits, chroma === 3 ? 12 : 8);
  }
  bits.unsigned();
  const order = bits.unsigned();
  if (order === 0) bits.unsigned();
  if (order === 1) {
    bits.take(1);
    bits.unsigned();
    bits.unsigned();
    for (let remaining = Math.min(bits.unsigned(), 255); remaining > 0; remaining--) bits.unsigned();
  }
  bits.unsigned();
  bits.take(1);
  bits.unsigned();
  bits.unsigned();
  const progressive = bits.take(1) === 1;
  return bits.over() ? null : { chroma, bit_depth, progressive };
}

// 7.3.2.1.1.1; odd codes are positive deltas, even ones negative.
function skipScaling(bits: Bits, lists: number): void {
  for (let list = 0; list < lists; list++) {
    if (!bits.take(1)) continue;
    let next = 8;
    for (let remaining = list < 6 ? 16 : 64; remaining > 0 && next !== 0; remaining--) {
      const code = bits.unsigned();
      const delta = code % 2 ? (code + 1) / 2 : -code / 2;
      next = (next + delta + 256) % 256;
    }
  }
}

interface Bits {
  take(count: number): number;
  /** Reads an unsigned Exp-Golomb code (9.1). */
  unsigned(): number;
  /** Returns whether reading went past the end. */
  over(): boolean;
}

/** Creates a reader of a header's bits, which takes the most significant of each byte first. */
export function createBits(bytes: Uint8Array): Bits {
  let at = 0;
  const take = (count: number) => {
    let value = 0;
    for (const end = at + count; at < end; at++) {
      value = value * 2 + (((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1);
    }
    return value;
  };
  const unsigned = () => {
    let zeros = 0;
    while (zeros < 32 && take(1) === 0) zeros++;
    return 2 ** zeros - 1 + take(zeros);
  };
  return { take, unsigned, over: () => at > bytes.length * 8 };
}

/** Returns the bytes of a NAL unit without escapes (7.4.1): a 3 after two zeros prevents accidental start codes. */
export function withoutEmulation(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte, at) => byte !== 3 || at < 2 || bytes[at - 1] !== 0 || bytes[at - 2] !== 0);
}

const NAL = { slice: 1, partition_c: 4, idr: 5, sei: 6 } as const;
const RECOVERY_POINT = 6;

/**
 * Returns how many pictures a decoder that starts at an H.264 access unit must discard before everything is complete
 * (ISO/IEC 14496-10, D.2.8): 0 for an IDR picture or an open group, more with intra refresh. Null when decoding cannot start
 * here. `description` is the avcC record; null means that the unit has start codes (Annex B).
 */
export function h264Entry(unit: Uint8Array, description: Uint8Array | null): number | null {
  for (const nal of nalUnits(unit, description)) {
    const type = (nal[0] ?? 0) & 0x1f;
    if (type === NAL.idr) return 0;
    if (type >= NAL.slice && type <= NAL.partition_c) return null;
    const frames = type === NAL.sei ? recoveryFrames(withoutEmulation(nal)) : null;
    if (frames !== null) return frames;
  }
  return null;
}

// NAL unit types of IDR slices and of all slices (ITU-T H.264 and H.265, table 7-1), and where a record states the size of lengths.
const SLICES = {
  avc: { typeOf: (first: number) => first & 0x1f, idr: [5, 5], all: [1, 5], lengthAt: 4 },
  hevc: { typeOf: (first: number) => (first >> 1) & 0x3f, idr: [19, 20], all: [0, 31], lengthAt: 21 },
} as const;

/**
 * Returns whether a decoder discards all earlier pictures at an access unit of H.264 or H.265. A container's sync flag does not suffice:
 * it may mark an open group, whose pictures refer to earlier ones or continue their order count. `description` is the decoder
 * configuration record; null means that the unit has start codes (Annex B).
 */
export function resetsDecoder(
  unit: Uint8Array,
  codec: keyof typeof SLICES,
  description: Uint8Array | null,
): boolean {
  const { typeOf, idr, all, lengthAt } = SLICES[codec];
  for (const nal of nalUnits(unit, description, lengthAt)) {
    const type = typeOf(nal[0] ?? 0);
    if (type >= all[0] && type <= all[1]) return type >= idr[0] && type <= idr[1];
  }
  return false;
}

/** Returns whether no other picture of an H.264 stream refers to a packet's picture. */
export function isDisposable(packet: Uint8Array, description: Uint8Array | null): boolean {
  for (const nal of nalUnits(packet, description)) {
    const header = nal[0] ?? 0;
    const type = header & 0x1f;
    if (type >= NAL.slice && type <= NAL.idr) return header >> 5 === 0;
  }
  return false;
}

/** Yields the NAL units of an access unit, which has start codes if there is no configuration record. */
export function* nalUnits(
  unit: Uint8Array,
  description: Uint8Array | null,
  lengthAt = 4,
): Generator<Uint8Array> {
  if (!description) {
    for (let start = nextStart(unit, 0) + START_BYTES; start < unit.length; ) {
      const next = nextStart(unit, start);
      let end = next;
      // A start code may have a fourth byte, and padding may follow a unit (ITU-T H.264, B.1).
      while (end > start && unit[end - 1] === 0) end--;
      yield unit.subarray(start, end);
      start = next + START_BYTES;
    }
    return;
  }
  yield* sizedUnits(unit, ((description[lengthAt] ?? 3) & 3) + 1);
}

/** Yields the NAL units of an access unit, each preceded by its size in `width` bytes (ISO/IEC 14496-15, 4.3.3). */
export function* sizedUnits(unit: Uint8Array, width: number): Generator<Uint8Array> {
  for (let at = 0; at + width < unit.length; ) {
    let size = 0;
    for (let byte = 0; byte < width; byte++) size = size * 256 + (unit[at + byte] ?? 0);
    yield unit.subarray(at + width, at + width + size);
    at += width + size;
  }
}

const START_BYTES = 3;

function nextStart(unit: Uint8Array, from: number): number {
  for (let at = from; at + 2 < unit.length; at++) {
    if (unit[at] === 0 && unit[at + 1] === 0 && unit[at + 2] === 1) return at;
  }
  return unit.length;
}

function recoveryFrames(sei: Uint8Array): number | null {
  let at = 1;
  const number = () => {
    let sum = 0;
    while (sei[at] === 255) sum += sei[at++] ?? 0;
    return sum + (sei[at++] ?? 0);
  };
  while (at + 2 < sei.length) {
    const type = number();
    const size = number();
    if (type === RECOVERY_POINT) return createBits(sei.subarray(at, at + size)).unsigned();
    at += size;
  }
  return null;
}

/** Returns whether a VP8 packet holds a picture to be shown (RFC 6386, 9.1: show_frame); a hidden one is only a reference. */
export function isShown(packet: Uint8Array): boolean {
  return (((packet[0] ?? 0) >> 4) & 1) === 1;
}

// OBU types (AV1 Bitstream, 6.2.2).
const OBU = { sequence: 1, delimiter: 2 } as const;

/**
 * Returns the number of operating points in the sequence header with which an AV1 packet begins: 1 if its pictures have no layers. Null
 * if the packet does not begin with a sequence header.
 */
export function operatingPoints(packet: Uint8Array): number | null {
  for (let at = 0; at + 1 < packet.length; ) {
    const header = packet[at++] ?? 0;
    if (header & 4) at++;
    let size = packet.length - at;
    if (header & 2) {
      size = 0;
      for (let shift = 0; shift < 56; shift += 7) {
        const byte = packet[at++] ?? 0;
        size += (byte & 0x7f) * 2 ** shift;
        if (byte < 0x80) break;
      }
    }
    const type = (header >> 3) & 15;
    if (type === OBU.sequence) return readOperatingPoints(createBits(packet.subarray(at, at + size)));
    if (type !== OBU.delimiter) return null;
    at += size;
  }
  return null;
}

// 5.5.1, and the timing and decoder model of 5.5.3 and 5.5.4.
function readOperatingPoints(bits: Bits): number {
  bits.take(4);
  if (bits.take(1) === 1) return 1;
  if (bits.take(1) === 1) {
    bits.take(32);
    bits.take(32);
    if (bits.take(1) === 1) bits.unsigned();
    if (bits.take(1) === 1) bits.take(47);
  }
  bits.take(1);
  return bits.take(5) + 1;
}
