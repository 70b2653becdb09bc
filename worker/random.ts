// Drawn many at a time: an id takes sixteen, and each draw leaves the isolate.
const drawn = new Uint32Array(256);
let left = 0;

/** Returns a random number in [0, 1), of the source that keys come from. */
export function random(): number {
  if (left === 0) left = crypto.getRandomValues(drawn).length;
  return (drawn[--left] ?? 0) / 2 ** 32;
}
