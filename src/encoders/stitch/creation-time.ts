import { MOVIE_EPOCH } from "../../probe/isobmff/movie-extras.ts";
import { viewOf } from "../../util/buffers.ts";

const MVHD = [0x6d, 0x76, 0x68, 0x64];
// The header of a moov whose first box it is stands there, behind the ftyp.
const SEARCHED = 256;

/**
 * Sets when an MP4 or MOV was made, or that this is not told: mediabunny (1.61) writes the time of day. The start of its index must
 * be in the first bytes that are written.
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

// Creation and modification, which are wide in version 1 (ISO/IEC 14496-12, 8.2.2).
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
