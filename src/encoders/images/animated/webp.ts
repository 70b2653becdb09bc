import { MediaError } from "../../../core/errors.ts";
import { concatBytes, viewOf } from "../../../util/bytes.ts";

/** One frame of an animated WebP: a part of the canvas, and how it gets there. */
export interface WebpFrame {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Milliseconds. */
  duration: number;
  /** Whether it is blended over the canvas; otherwise it replaces that part of it. */
  blends: boolean;
  /** Whether its part of the canvas is cleared once it has been shown. */
  clears: boolean;
  /** A still WebP of the frame alone. */
  still: Uint8Array<ArrayBuffer>;
}

export interface WebpAnimation {
  width: number;
  height: number;
  frames: WebpFrame[];
}

// Far more than any real animation has, but a file of tiny frames could hold millions.
const MOST_FRAMES = 50_000;

const damaged = () => new MediaError("input_unsupported", "The input is damaged or cut off.");

/** Reads an animated WebP (RFC 9649). Throws `input_unsupported` when it is damaged, `input_too_large` for too many frames. */
export function readAnimation(file: Uint8Array): WebpAnimation {
  const view = viewOf(file);
  let canvas: { width: number; height: number } | null = null;
  const frames: WebpFrame[] = [];
  if (view.byteLength < 12) throw damaged();
  // Bytes after the container do not belong to it.
  const whole = Math.min(view.byteLength, 8 + view.getUint32(4, true));
  for (const { name, start, end } of chunksOf(view, 12, whole)) {
    if (name === "VP8X") canvas = { width: uint24(view, start + 4) + 1, height: uint24(view, start + 7) + 1 };
    if (name === "ANMF") frames.push(readFrame(file, view, start, end));
    if (frames.length > MOST_FRAMES) {
      throw new MediaError("input_too_large", `An animated WebP may have ${MOST_FRAMES} frames.`);
    }
  }
  if (!canvas || frames.length === 0) throw damaged();
  const { width, height } = canvas;
  if (frames.some((frame) => frame.x + frame.width > width || frame.y + frame.height > height))
    throw damaged();
  return { width, height, frames };
}

function readFrame(file: Uint8Array, view: DataView, start: number, end: number): WebpFrame {
  if (end - start < 16) throw damaged();
  const [width, height] = [uint24(view, start + 6) + 1, uint24(view, start + 9) + 1];
  const flags = view.getUint8(start + 15);
  const parts = [...chunksOf(view, start + 16, end)].filter(({ name }) => /^(ALPH|VP8 |VP8L)$/.test(name));
  const pictures = parts.map((part) =>
    file.subarray(part.start - 8, part.end + ((part.end - part.start) & 1)),
  );
  if (parts.length === 0) throw damaged();
  return {
    ...{ x: 2 * uint24(view, start), y: 2 * uint24(view, start + 3), width, height },
    duration: shownFor(uint24(view, start + 12)),
    ...{ blends: (flags & 2) === 0, clears: (flags & 1) === 1 },
    still: stillOf(
      parts.some(({ name }) => name === "ALPH") ? [extended(width, height), ...pictures] : pictures,
    ),
  };
}

/** Returns the milliseconds for which viewers show a frame: they take a very short duration for a mistake. */
export function shownFor(duration: number): number {
  return duration <= 10 ? 100 : duration;
}

// The header that a lossy picture with transparency needs.
function extended(width: number, height: number): Uint8Array {
  const chunk = new Uint8Array(18);
  const view = viewOf(chunk);
  view.setUint32(0, 0x56503858);
  view.setUint32(4, 10, true);
  view.setUint8(8, 0x10);
  view.setUint32(12, width - 1, true);
  view.setUint16(15, (height - 1) & 0xffff, true);
  view.setUint8(17, (height - 1) >> 16);
  return chunk;
}

function stillOf(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const body = concatBytes(chunks);
  const head = new Uint8Array(12);
  const view = viewOf(head);
  view.setUint32(0, 0x52494646);
  view.setUint32(4, body.length + 4, true);
  view.setUint32(8, 0x57454250);
  return concatBytes([head, body]);
}

function* chunksOf(
  view: DataView,
  from: number,
  to: number,
): Generator<{ name: string; start: number; end: number }> {
  for (let at = from; at + 8 <= to; ) {
    const name = String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(at + index)));
    const start = at + 8;
    const end = start + view.getUint32(at + 4, true);
    if (end > to) throw damaged();
    yield { name, start, end };
    at = end + ((end - start) & 1);
  }
}

export function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
