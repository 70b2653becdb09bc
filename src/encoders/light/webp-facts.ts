import { MediaError } from "../../core/errors.ts";
import { viewOf } from "../../util/bytes.ts";
import { shownFor, uint24 } from "../images/animated/webp.ts";

/** How often, and for how many seconds, an animation shows a picture. */
export interface MotionFacts {
  frames: number;
  seconds: number;
}

const HEAD = 24;

/**
 * Counts the frames of an animated WebP (RFC 9649) by the headers of its chunks. Throws `input_unsupported` when it is cut off, and
 * whatever `read` throws.
 */
export function readMotion(read: (start: number, end: number) => Uint8Array, size: number): MotionFacts {
  let [frames, milliseconds] = [0, 0];
  const end = 8 + viewOf(read(0, 12)).getUint32(4, true);
  if (end > size) throw cutOff();
  for (let at = 12; at + 8 <= end; ) {
    const view = viewOf(read(at, Math.min(end, at + HEAD)));
    const length = view.getUint32(4, true);
    if (at + 8 + length > end) throw cutOff();
    if (view.getUint32(0) === ANMF && view.byteLength === HEAD) {
      frames++;
      milliseconds += shownFor(uint24(view, 20));
    }
    at += 8 + length + (length & 1);
  }
  return { frames, seconds: milliseconds / 1000 };
}

const ANMF = 0x414e4d46;

function cutOff(): MediaError {
  return new MediaError("input_unsupported", "The input is damaged or cut off.");
}
