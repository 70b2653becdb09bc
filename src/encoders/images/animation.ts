import { MediaError } from "../../core/errors.ts";
import { concatBytes, viewOf } from "../../util/bytes.ts";

// ffmpeg 5.1 lets the last frame of a GIF last as long as the one before, and of a WebP as long as the mean.

/** A format of animations, as blocks of which some begin a frame. */
interface AnimationFormat {
  /** Length in bytes of the block that starts at `at`; null until more bytes have arrived. */
  block(bytes: Uint8Array, at: number, isFirst: boolean): number | null;
  /** Whether a block holds a frame's duration. */
  isFrame(block: Uint8Array): boolean;
  read(block: Uint8Array): number;
  write(block: Uint8Array, units: number): void;
  /** Units of time per second, and the largest number of them that a frame may last. */
  clock: number;
  longest: number;
}

// GIF89a: a header with an optional palette, then extensions, images and a trailer, each by its first byte.
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const CONTROL = 0xf9;
const GIF_HEADER = 13;
const GIF_DELAY = 4;

const GIF: AnimationFormat = {
  block(bytes, at, isFirst) {
    if (isFirst) return bytes.length < GIF_HEADER ? null : GIF_HEADER + paletteBytes(bytes[10]);
    if (bytes[at] === EXTENSION) return subBlocks(bytes, at, 2);
    if (bytes[at] !== IMAGE) return 1;
    const flags = bytes[at + 9];
    // The palette is followed by one byte, the size of the first code.
    return flags === undefined ? null : subBlocks(bytes, at, 10 + paletteBytes(flags) + 1);
  },
  isFrame: (block) => block[0] === EXTENSION && block[1] === CONTROL,
  read: (block) => viewOf(block).getUint16(GIF_DELAY, true),
  write: (block, units) => viewOf(block).setUint16(GIF_DELAY, units, true),
  clock: 100,
  longest: 0xff_ff,
};

function paletteBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

function subBlocks(bytes: Uint8Array, start: number, skipped: number): number | null {
  let at = start + skipped;
  for (;;) {
    const length = bytes[at];
    if (length === undefined) return null;
    at += 1 + length;
    if (length === 0) return at - start;
  }
}

// RIFF: chunks of a name, a length and a body that is padded to an even length. ANMF begins with position and size, 12 bytes.
const RIFF_HEADER = 12;
const CHUNK_HEADER = 8;
const WEBP_DELAY = CHUNK_HEADER + 12;
const ANMF = 0x414e4d46;

const WEBP: AnimationFormat = {
  block(bytes, at, isFirst) {
    if (isFirst) return RIFF_HEADER;
    if (bytes.length - at < CHUNK_HEADER) return null;
    const length = viewOf(bytes).getUint32(at + 4, true);
    return CHUNK_HEADER + length + (length % 2);
  },
  isFrame: (block) => viewOf(block).getUint32(0) === ANMF,
  read: (block) => viewOf(block).getUint32(WEBP_DELAY, true) & 0xff_ffff,
  write(block, units) {
    const view = viewOf(block);
    view.setUint16(WEBP_DELAY, units & 0xffff, true);
    view.setUint8(WEBP_DELAY + 2, units >> 16);
  },
  clock: 1000,
  longest: 0xff_ffff,
};

const FORMATS: Readonly<Record<string, AnimationFormat>> = { gif: GIF, webp: WEBP };

/** A stream that passes an animation on, and counts its frames. */
export interface AnimationEnd {
  stream: TransformStream<Uint8Array, Uint8Array>;
  /** Frames that have passed; 0 for a still. */
  frames(): number;
}

/** Makes the last frame of a GIF or WebP last until the animation is `seconds` long. Holds one frame in memory. */
export function endAnimation(format: string, seconds: number): AnimationEnd {
  const { block, isFrame, read, write, clock, longest } = FORMATS[format] ?? WEBP;
  let rest: Uint8Array = new Uint8Array();
  let isFirst = true;
  // The latest frame, with all blocks after it.
  let held: Uint8Array[] = [];
  let [frames, before] = [0, 0];
  const stream = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      rest = concatBytes([rest, bytes]);
      let at = 0;
      for (;;) {
        const length = at < rest.length ? block(rest, at, isFirst) : null;
        if (length === null || at + length > rest.length) break;
        isFirst = false;
        const next = rest.slice(at, at + length);
        at += length;
        if (isFrame(next)) {
          if (held[0] && frames > 0) before += read(held[0]);
          for (const part of held) controller.enqueue(part);
          held = [];
          frames++;
        }
        held.push(next);
      }
      rest = rest.subarray(at);
    },
    flush(controller) {
      if (rest.length > 0) throw new MediaError("encode_failed", "The encoded animation is damaged.");
      const units = Math.round(seconds * clock) - before;
      if (frames > 0 && held[0]) write(held[0], Math.min(longest, Math.max(1, units)));
      for (const part of held) controller.enqueue(part);
    },
  });
  return { stream, frames: () => frames };
}
