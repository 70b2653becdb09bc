import { MOVIE_EPOCH } from "../../probe/isobmff/movie-extras.ts";
import { viewOf } from "../../util/bytes.ts";

const MVHD = [0x6d, 0x76, 0x68, 0x64];
// The ftyp is short, so the header of a moov that comes next lies within these bytes.
const SEARCHED = 256;

/**
 * Sets the creation time of an MP4 or MOV, or clears it: mediabunny (1.61) writes the current time. The start of the index
 * must be in the first write.
 */
export function setCreationTime(
  made: string | undefined,
  write: (bytes: Uint8Array) => Promise<void>,
): (bytes: Uint8Array) => Promise<void> {
  let first = true;
  return (bytes) => {
    if (first) stamp(bytes, made === undefined ? 0 : Date.parse(made) / 1000 + MOVIE_EPOCH);
    first = false;
    return write(bytes);
  };
}

// Creation and modification times, 64 bits in version 1 (ISO/IEC 14496-12, 8.2.2).
function stamp(bytes: Uint8Array, seconds: number): void {
  const start = bytes.subarray(0, SEARCHED);
  const at = start.findIndex((_, place) => MVHD.every((byte, index) => start[place + index] === byte));
  if (at < 0) return;
  const view = viewOf(bytes);
  const whole = BigInt(Math.max(0, Math.floor(seconds)));
  const wide = view.getUint8(at + 4) === 1;
  for (const place of [0, 1]) {
    if (wide) view.setBigUint64(at + 8 + 8 * place, whole);
    else view.setUint32(at + 8 + 4 * place, whole > 0xffffffffn ? 0 : Number(whole));
  }
}
