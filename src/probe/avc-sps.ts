/** What an H.264 sequence parameter set says about the stored pictures. */
export interface AvcPictures {
  /** 0 gray, 1 4:2:0, 2 4:2:2, 3 4:4:4. */
  chroma: number;
  bit_depth: number;
  /** False when pictures may be stored as fields; only the pictures show whether they are. */
  progressive: boolean;
}

// ITU-T H.264, 7.3.2.1.1: profiles whose parameter sets state chroma and depth.
const HIGH_PROFILES: ReadonlySet<number> = new Set([
  100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
]);

/** Parses the first parameter set of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1); null when there is none. */
export function readAvcConfig(record: Uint8Array): AvcPictures | null {
  const sets = (record[5] ?? 0) & 0x1f;
  const length = ((record[6] ?? 0) << 8) | (record[7] ?? 0);
  if (record[0] !== 1 || sets === 0 || length < 4 || record.length < 8 + length) return null;
  return readSps(record.subarray(8, 8 + length));
}

function readSps(unit: Uint8Array): AvcPictures | null {
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
    for (let left = Math.min(bits.unsigned(), 255); left > 0; left--) bits.unsigned();
  }
  bits.unsigned();
  bits.take(1);
  bits.unsigned();
  bits.unsigned();
  const progressive = bits.take(1) === 1;
  return bits.over() ? null : { chroma, bit_depth, progressive };
}

// 7.3.2.1.1.1; deltas are signed: odd codes are positive, even ones negative.
function skipScaling(bits: Bits, lists: number): void {
  for (let list = 0; list < lists; list++) {
    if (!bits.take(1)) continue;
    let next = 8;
    for (let left = list < 6 ? 16 : 64; left > 0 && next !== 0; left--) {
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

function createBits(bytes: Uint8Array): Bits {
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

// 7.4.1: a 3 after two zeros only prevents accidental start codes.
function withoutEmulation(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte, at) => byte !== 3 || at < 2 || bytes[at - 1] !== 0 || bytes[at - 2] !== 0);
}
