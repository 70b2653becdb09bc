import { PICTURE } from "./numbered.ts";

// ITU-T H.264: a stream of field pictures as broadcasters use them (PAFF). Every frame is a top field, intra or predicted,
// and a bottom field that repeats it. Macroblocks are skipped or raw samples (I_PCM), which need no transform or motion search.

const BLOCK = 16;
const COLUMNS = PICTURE.width / BLOCK;
// Macroblock rows per field.
const ROWS = PICTURE.height / 2 / BLOCK;
const FRAME_NUM_BITS = 4;
const NAL = { slice: 1, idr: 5, sei: 6, sps: 7, pps: 8 } as const;
const SLICE = { p: 5, i: 7 } as const;
// The mb_type of I_PCM by slice type; in a P slice the intra types follow five others.
const PCM = { [SLICE.i]: 25, [SLICE.p]: 30 } as const;
const WHITE = 235;
const BLACK = 16;

/**
 * Returns numbered pictures as H.264 access units, each with both fields of a frame. Only the first is an IDR picture; every
 * `intra` frames, an intra top field after a recovery point is the only other place to start decoding.
 */
export function fieldPictures(frames: number, intra: number): Buffer[] {
  const units: Buffer[] = [];
  let before: number[] = [];
  for (let frame = 0; frame < frames; frame++) {
    const level = brightness(frame);
    const entry = frame % intra === 0;
    const changed = level.map((value, block) => (entry || value !== before[block] ? value : null));
    const same = level.map(() => null);
    units.push(
      Buffer.concat([
        ...(entry ? [parameters(), frame > 0 ? recoveryPoint() : Buffer.alloc(0)] : []),
        field(frame, entry, false, changed),
        field(frame, false, true, same),
      ]),
    );
    before = level;
  }
  return units;
}

/** Returns access units as an IVF file, whose packets native ffmpeg copies unchanged. */
export function toIvf(units: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(32);
  head.write("DKIF\0\0\x20\0H264", "latin1");
  head.writeUInt16LE(PICTURE.width, 12);
  head.writeUInt16LE(PICTURE.height, 14);
  head.writeUInt32LE(PICTURE.fps, 16);
  head.writeUInt32LE(1, 20);
  head.writeUInt32LE(units.length, 24);
  const parts = units.flatMap((unit, index) => {
    const size = Buffer.alloc(12);
    size.writeUInt32LE(unit.length);
    size.writeBigUInt64LE(BigInt(index), 4);
    return [size, unit];
  });
  return Buffer.concat([head, ...parts]);
}

// Luma of every macroblock of a field: the number, the number inverted, and a bright block that moves over a gray gradient.
function brightness(frame: number): number[] {
  const rows = PICTURE.band / 2 / BLOCK;
  const wide = COLUMNS / PICTURE.bits;
  const rest = (ROWS - 2 * rows) * COLUMNS;
  return Array.from({ length: COLUMNS * ROWS }, (_, block) => {
    const [x, y] = [block % COLUMNS, Math.floor(block / COLUMNS)];
    const band = Math.floor(y / rows);
    if (band < 2) return ((frame >> Math.floor(x / wide)) & 1) === 1 - band ? WHITE : BLACK;
    return block - 2 * rows * COLUMNS === frame % rest ? WHITE : 40 + x * 8;
  });
}

function parameters(): Buffer {
  const sps = createBits();
  // Main profile, level 3.
  for (const byte of [77, 0, 30]) sps.put(byte, 8);
  sps.golomb(0, FRAME_NUM_BITS - 4);
  // Output in decoding order; one reference frame; no gaps.
  sps.golomb(2, 1).put(0, 1);
  sps.golomb(COLUMNS - 1, ROWS - 1);
  // Fields without MBAFF; direct_8x8_inference; no cropping; VUI with timing and no reordering.
  sps.put(0b00101, 5);
  sps
    .put(0, 4)
    .put(1, 1)
    .put(1, 32)
    .put(2 * PICTURE.fps, 32)
    .put(1, 1);
  sps.put(0, 3).put(1, 1).put(1, 1).golomb(0, 0, 10, 10, 0, 1);
  const pps = createBits().golomb(0, 0).put(0, 2).golomb(0, 0, 0).put(0, 3);
  // Quantizer offsets of zero; then deblocking_filter_control_present_flag.
  pps.golomb(0, 0, 0).put(0b100, 3);
  return Buffer.concat([unit(NAL.sps, 3, sps.end()), unit(NAL.pps, 3, pps.end())]);
}

function recoveryPoint(): Buffer {
  const payload = createBits().golomb(0).put(0b1000, 4).end();
  return unit(NAL.sei, 0, Buffer.concat([Buffer.from([6, payload.length]), payload, Buffer.from([0x80])]));
}

// A null block is skipped: it repeats the reference field.
function field(frame: number, intra: boolean, bottom: boolean, blocks: readonly (number | null)[]): Buffer {
  const type = intra ? SLICE.i : SLICE.p;
  const idr = frame === 0 && intra;
  const slice = createBits().golomb(0, type, 0);
  slice
    .put(frame % 2 ** FRAME_NUM_BITS, FRAME_NUM_BITS)
    .put(1, 1)
    .put(Number(bottom), 1);
  if (idr) slice.golomb(0);
  // Default number and order of references.
  if (!intra) slice.put(0, 2);
  slice.put(0, idr ? 2 : 1);
  // No change of quantizer, no deblocking.
  slice.golomb(0, 1);
  let skipped = 0;
  for (const value of blocks) {
    if (value === null) {
      skipped++;
      continue;
    }
    if (!intra) slice.golomb(skipped);
    skipped = 0;
    slice.golomb(PCM[type]).samples(value);
  }
  if (skipped > 0) slice.golomb(skipped);
  return unit(idr ? NAL.idr : NAL.slice, 3, slice.end());
}

function unit(type: number, priority: number, payload: Buffer): Buffer {
  const escaped: number[] = [];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros === 2 && byte <= 3) {
      escaped.push(3);
      zeros = 0;
    }
    escaped.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from([0, 0, 0, 1, (priority << 5) | type, ...escaped]);
}

function createBits() {
  const bytes: number[] = [];
  let open = 0;
  let count = 0;
  const bits = {
    /** Appends the lowest `length` bits of a value. */
    put(value: number, length: number) {
      for (let at = length - 1; at >= 0; at--) {
        open = (open << 1) | (Math.floor(value / 2 ** at) & 1);
        if (++count % 8 === 0) bytes.push(open & 255);
      }
      return bits;
    },
    /** Appends values as unsigned Exp-Golomb codes. */
    golomb(...values: number[]) {
      for (const value of values) {
        const length = Math.floor(Math.log2(value + 1));
        bits.put(0, length).put(value + 1, length + 1);
      }
      return bits;
    },
    /** Aligns and appends a 4:2:0 macroblock of uniform luma. */
    samples(luma: number) {
      align();
      for (let at = 0; at < BLOCK * BLOCK; at++) bytes.push(luma);
      for (let at = 0; at < (BLOCK * BLOCK) / 2; at++) bytes.push(128);
      return bits;
    },
    /** Ends the payload and returns its bytes. */
    end() {
      bits.put(1, 1);
      align();
      return Buffer.from(bytes);
    },
  };
  return bits;

  function align() {
    while (count % 8 !== 0) bits.put(0, 1);
  }
}
