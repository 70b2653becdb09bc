/** Damages a copy of a file: every way in turn, at places and of lengths that follow from the seed; 0 leaves it whole. */
export function damage(original: Uint8Array, seed: number): Uint8Array {
  if (seed === 0) return original;
  const next = randomOf(seed);
  const bytes = original.slice();
  const place = () => next(bytes.length);
  const length = () => 1 + next(Math.max(1, bytes.length >> 3));
  switch (seed % 5) {
    case 0:
      for (let count = 1 + next(64); count > 0; count--) bytes[place()] = next(256);
      return bytes;
    case 1:
      for (let count = 1 + next(8); count > 0; count--) bytes[place()] = 255;
      return bytes.subarray(0, 1 + place());
    case 2:
      return fill(bytes, place(), length(), () => 0);
    case 3:
      return fill(bytes, place(), length(), () => next(256));
    default:
      bytes.copyWithin(place(), place(), place() + length());
      return bytes;
  }
}

function fill(bytes: Uint8Array, start: number, length: number, value: () => number): Uint8Array {
  const end = Math.min(bytes.length, start + length);
  for (let at = start; at < end; at++) bytes[at] = value();
  return bytes;
}

// Marsaglia's xorshift: the same numbers in every run.
function randomOf(seed: number): (below: number) => number {
  let state = (seed + 1) * 2_654_435_761;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
