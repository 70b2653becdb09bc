const NAL = { slice: 1, partition_c: 4, idr: 5, sei: 6 } as const;
const RECOVERY_POINT = 6;

/**
 * Returns how many pictures a decoder that starts at an H.264 access unit must discard before everything is complete
 * (ISO/IEC 14496-10, D.2.8): 0 for an IDR picture or an open group, more with intra refresh. Null when decoding cannot start
 * here. `description` is the avcC record; without it the unit has start codes (Annex B).
 */
export function h264Entry(unit: Uint8Array, description: Uint8Array | null): number | null {
  for (const nal of nalUnits(unit, description)) {
    const type = (nal[0] ?? 0) & 0x1f;
    if (type === NAL.idr) return 0;
    if (type >= NAL.slice && type <= NAL.partition_c) return null;
    const frames = type === NAL.sei ? recoveryFrames(dropEscapes(nal)) : null;
    if (frames !== null) return frames;
  }
  return null;
}

function* nalUnits(unit: Uint8Array, description: Uint8Array | null): Generator<Uint8Array> {
  if (!description) {
    for (let start = nextStart(unit, 0); start < unit.length; ) {
      const next = nextStart(unit, start);
      yield unit.subarray(start, next);
      start = next;
    }
    return;
  }
  const width = ((description[4] ?? 3) & 3) + 1;
  for (let at = 0; at + width < unit.length; ) {
    let size = 0;
    for (let byte = 0; byte < width; byte++) size = size * 256 + (unit[at + byte] ?? 0);
    yield unit.subarray(at + width, at + width + size);
    at += width + size;
  }
}

// The position after the next 00 00 01.
function nextStart(unit: Uint8Array, from: number): number {
  for (let at = from; at + 2 < unit.length; at++) {
    if (unit[at] === 0 && unit[at + 1] === 0 && unit[at + 2] === 1) return at + 3;
  }
  return unit.length;
}

// Bytes 00 00 03 stand for 00 00.
function dropEscapes(nal: Uint8Array): Uint8Array {
  return nal.filter((byte, at) => !(byte === 3 && at > 1 && nal[at - 1] === 0 && nal[at - 2] === 0));
}

// A list of messages; type and size are each a run of 255s plus a remainder.
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
    if (type === RECOVERY_POINT) return expGolomb(sei.subarray(at, at + size));
    at += size;
  }
  return null;
}

function expGolomb(bytes: Uint8Array): number {
  const bit = (at: number) => ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1;
  let zeros = 0;
  while (zeros < 16 && bit(zeros) === 0) zeros++;
  let value = 0;
  for (let at = zeros; at <= 2 * zeros; at++) value = value * 2 + bit(at);
  return value - 1;
}
