import { pictureFormat } from "../../media/containers.ts";
import type { Plan } from "../../media/plan.ts";
import { blockBytes, GIF, headerBytes } from "../../probe/gif.ts";
import { concatBytes, latinText, readOr, uint24, viewOf } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import type { Frame } from "./png.ts";

/** An animation format as a sequence of blocks, some of which begin a frame. */
interface AnimationFormat {
  /** Length in bytes of the block that starts at `at`; null until more bytes have arrived. */
  block(bytes: Uint8Array, at: number, isFirst: boolean): number | null;
  /** Whether a block holds a frame's duration. */
  isFrame(block: Uint8Array): boolean;
  read(block: Uint8Array): number;
  write(block: Uint8Array, units: number): void;
  /** Changes a frame's block to suit the next frame's. */
  join?(block: Uint8Array, next: Uint8Array): void;
  /** Units of time per second. */
  clock: number;
  /** Maximum duration of a frame, in units. */
  maxUnits: number;
}

const GIF_DELAY = 4;

const GIF_FORMAT: AnimationFormat = {
  block(bytes, at, isFirst) {
    const view = viewOf(bytes);
    return readOr(null, () => (isFirst ? headerBytes(view) : blockBytes(view, at)));
  },
  isFrame: (block) => block[0] === GIF.extension && block[1] === GIF.control,
  read: (block) => viewOf(block).getUint16(GIF_DELAY, true),
  write: (block, units) => viewOf(block).setUint16(GIF_DELAY, units, true),
  // ffmpeg (5.1) draws a frame with transparent parts, which it removes afterwards, over an opaque one that stays.
  join(block, next) {
    if (disposalOf(next) === BACKGROUND && disposalOf(block) === STAYS) setDisposal(block, BACKGROUND);
  },
  clock: 100,
  maxUnits: 0xff_ff,
};

const GIF_FLAGS = 3;
const [STAYS, BACKGROUND] = [1, 2] as const;

function disposalOf(block: Uint8Array): number {
  return ((block[GIF_FLAGS] ?? 0) >> 2) & 7;
}

function setDisposal(block: Uint8Array, disposal: number): void {
  block[GIF_FLAGS] = ((block[GIF_FLAGS] ?? 0) & ~0x1c) | (disposal << 2);
}

// RFC 9649, 2.7.1.1: an ANMF chunk begins with the frame's position and size, 12 bytes.
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
  maxUnits: 0xff_ffff,
};

const FORMATS: Readonly<Record<string, AnimationFormat>> = { gif: GIF_FORMAT, webp: WEBP };

/** A stream that passes an animation on and counts its frames. */
export interface AnimationEnd {
  stream: TransformStream<Uint8Array, Uint8Array>;
  /** Returns the number of frames passed on so far. */
  frames(): number;
}

/** Returns whether {@link endAnimation} must finish a plan's output; an AVIF does not need it, because its packets state their durations. */
export function needsEnd({ image, duration, format }: Plan): boolean {
  const isMoving = image?.animated === true && !image.sheet && duration !== null;
  return isMoving && pictureFormat(format).frame_clock === undefined;
}

/**
 * Extends the last frame of a GIF or WebP so that the animation lasts `seconds`: ffmpeg 5.1 gives it the duration of the frame before in a
 * GIF, and the mean duration in a WebP. Turns a still WebP, which libwebp writes for identical frames, into an animation that plays `loop`
 * times (0: forever). Removes a GIF's opaque frames before frames with transparent parts. Buffers one frame.
 */
export function endAnimation(format: string, seconds: number, loop = 0): AnimationEnd {
  const { block, isFrame, read, write, join, clock, maxUnits } = FORMATS[format] ?? WEBP;
  let rest: Uint8Array = new Uint8Array();
  let isFirst = true;
  let lastFrame: Uint8Array[] = [];
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
          if (lastFrame[0] && frames > 0) {
            before += read(lastFrame[0]);
            join?.(lastFrame[0], next);
          }
          for (const part of lastFrame) controller.enqueue(part);
          lastFrame = [];
          frames++;
        }
        lastFrame.push(next);
      }
      rest = rest.subarray(at);
    },
    flush(controller) {
      if (rest.length > 0) throw errors.animationDamaged();
      if (frames === 0 && format === "webp") {
        lastFrame = animateStill(lastFrame.slice(1), loop);
        frames = lastFrame.filter(isFrame).length;
      }
      const units = Math.round(seconds * clock) - before;
      const last = lastFrame.find(isFrame);
      if (last) write(last, Math.min(maxUnits, Math.max(1, units)));
      for (const part of lastFrame) controller.enqueue(part);
    },
  });
  return { stream, frames: () => frames };
}

const VP8X = { name: 0x56503858, animated: 0x02, alpha: 0x10 } as const;

// RFC 9649, 2.7: the header, a color profile, ANIM, the frame, metadata.
function animateStill(chunks: readonly Uint8Array[], loop: number): Uint8Array[] {
  const chunksMatching = (pattern: RegExp) =>
    chunks.filter((chunk) => pattern.test(latinText(viewOf(chunk), 0, 4)));
  const pictures = chunksMatching(/^(ALPH|VP8 |VP8L)$/);
  const [picture] = chunksMatching(/^VP8[ L]$/);
  if (!picture) throw errors.animationDamaged();
  const { width, height, alpha } = readPictureHeader(picture);
  const header = extendedHeader(width, height);
  const [own] = chunksMatching(/^VP8X$/);
  const flags = (own?.[8] ?? 0) | (alpha || pictures.length > 1 ? VP8X.alpha : 0) | VP8X.animated;
  viewOf(header).setUint8(8, flags);
  const anim = new Uint8Array(14);
  viewOf(anim).setUint32(0, 0x414e494d);
  viewOf(anim).setUint32(4, 6, true);
  viewOf(anim).setUint16(12, loop, true);
  const place = new Uint8Array(24);
  viewOf(place).setUint32(0, ANMF);
  viewOf(place).setUint32(4, 16 + pictures.reduce((sum, { length }) => sum + length, 0), true);
  // A frame states its sides in the same form as the canvas.
  place.set(header.subarray(12, 18), 14);
  const frame = concatBytes([place, ...pictures]);
  const body = [header, ...chunksMatching(/^ICCP$/), anim, frame, ...chunksMatching(/^(EXIF|XMP )$/)];
  return [riffHeader(body), ...body];
}

// RFC 6386, 9.1, and RFC 9649, 3.4.
function readPictureHeader(chunk: Uint8Array): { width: number; height: number; alpha: boolean } {
  const view = viewOf(chunk);
  if (latinText(view, 0, 4) === "VP8 ") {
    const [width, height] = [view.getUint16(14, true) & 0x3fff, view.getUint16(16, true) & 0x3fff];
    return { width, height, alpha: false };
  }
  const bits = view.getUint32(9, true);
  const [width, height] = [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  return { width, height, alpha: (bits & (2 ** 28)) !== 0 };
}

/** One frame of an animated WebP, which covers a part of the canvas. */
export interface WebpFrame {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Milliseconds. */
  duration: number;
  /** Whether it is blended over the canvas; otherwise it replaces its part. */
  blends: boolean;
  /** Whether its part of the canvas is cleared afterwards. */
  clears: boolean;
  /** A still WebP of the frame alone. */
  still: Uint8Array<ArrayBuffer>;
}

interface WebpAnimation {
  width: number;
  height: number;
  frames: WebpFrame[];
}

const MAX_FRAMES = 50_000;

/** Reads an animated WebP (RFC 9649). Throws `input_unsupported` when it is damaged, `input_too_large` for too many frames. */
export function readAnimation(file: Uint8Array): WebpAnimation {
  const view = viewOf(file);
  let canvas: { width: number; height: number } | null = null;
  const frames: WebpFrame[] = [];
  if (view.byteLength < 12) throw errors.inputDamaged();
  const whole = Math.min(view.byteLength, 8 + view.getUint32(4, true));
  for (const { name, start, end } of chunksOf(view, 12, whole)) {
    if (name === "VP8X") canvas = { width: uint24(view, start + 4) + 1, height: uint24(view, start + 7) + 1 };
    if (name === "ANMF") frames.push(readFrame(file, view, start, end));
    if (frames.length > MAX_FRAMES) throw errors.tooManyFrames({ max: MAX_FRAMES });
  }
  if (!canvas || frames.length === 0) throw errors.inputDamaged();
  const { width, height } = canvas;
  if (frames.some((frame) => frame.x + frame.width > width || frame.y + frame.height > height))
    throw errors.inputDamaged();
  return { width, height, frames };
}

function readFrame(file: Uint8Array, view: DataView, start: number, end: number): WebpFrame {
  if (end - start < 16) throw errors.inputDamaged();
  const [width, height] = [uint24(view, start + 6) + 1, uint24(view, start + 9) + 1];
  const flags = view.getUint8(start + 15);
  const parts = [...chunksOf(view, start + 16, end)].filter(({ name }) => /^(ALPH|VP8 |VP8L)$/.test(name));
  const pictures = parts.map((part) =>
    file.subarray(part.start - 8, part.end + ((part.end - part.start) & 1)),
  );
  if (parts.length === 0) throw errors.inputDamaged();
  return {
    x: 2 * uint24(view, start),
    y: 2 * uint24(view, start + 3),
    width,
    height,
    duration: shownFor(uint24(view, start + 12)),
    blends: (flags & 2) === 0,
    clears: (flags & 1) === 1,
    still: stillOf(
      parts.some(({ name }) => name === "ALPH") ? [extendedHeader(width, height), ...pictures] : pictures,
    ),
  };
}

/**
 * Returns the milliseconds for which viewers show a frame: browsers show one of at most 10 ms for 100 ms (Chromium's
 * `DeferredImageDecoder::FrameDurationAtIndex`, Firefox's `FrameTimeout`, WebKit bug 36082), and ffmpeg does the same in a GIF.
 */
export function shownFor(duration: number): number {
  return duration <= 10 ? 100 : duration;
}

function extendedHeader(width: number, height: number): Uint8Array {
  const chunk = new Uint8Array(18);
  const view = viewOf(chunk);
  view.setUint32(0, VP8X.name);
  view.setUint32(4, 10, true);
  view.setUint8(8, VP8X.alpha);
  view.setUint32(12, width - 1, true);
  view.setUint16(15, (height - 1) & 0xffff, true);
  view.setUint8(17, (height - 1) >> 16);
  return chunk;
}

function stillOf(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return concatBytes([riffHeader(chunks), ...chunks]);
}

function riffHeader(chunks: readonly Uint8Array[]): Uint8Array {
  const head = new Uint8Array(12);
  const view = viewOf(head);
  view.setUint32(0, 0x52494646);
  view.setUint32(4, 4 + chunks.reduce((sum, { length }) => sum + length, 0), true);
  view.setUint32(8, 0x57454250);
  return head;
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
    if (end > to) throw errors.inputDamaged();
    yield { name, start, end };
    at = end + ((end - start) & 1);
  }
}

/** Decodes a still WebP to straight RGBA; null when it is damaged. */
export type DecodeStill = (frame: WebpFrame) => Promise<Uint8Array | Uint8ClampedArray | null>;

/** Draws the frames of an animation one over the other and yields the whole canvas after each; the next frame changes its pixels. */
export async function* composeFrames(animation: WebpAnimation, decode: DecodeStill): AsyncGenerator<Frame> {
  const { width, height, frames } = animation;
  const canvas = new Uint8Array(width * height * 4);
  for (const frame of frames) {
    const pixels = await decode(frame);
    if (pixels?.length !== frame.width * frame.height * 4) {
      throw errors.inputDamaged();
    }
    if (frame.blends) eachRow(frame, width, (to, from, length) => blend(canvas, to, pixels, from, length));
    else eachRow(frame, width, (to, from, length) => canvas.set(pixels.subarray(from, from + length), to));
    yield { pixels: canvas, duration: frame.duration };
    if (frame.clears) eachRow(frame, width, (to, _, length) => canvas.fill(0, to, to + length));
  }
}

function eachRow(
  { x, y, width, height }: WebpFrame,
  across: number,
  draw: (to: number, from: number, length: number) => void,
): void {
  for (let row = 0; row < height; row++) draw(((y + row) * across + x) * 4, row * width * 4, width * 4);
}

// RFC 9649, 2.7.1.1: alpha blending of colors that are not premultiplied.
function blend(
  canvas: Uint8Array,
  to: number,
  pixels: Uint8Array | Uint8ClampedArray,
  from: number,
  length: number,
): void {
  for (let at = 0; at < length; at += 4) {
    const alpha = pixels[from + at + 3] as number;
    if (alpha === 0) continue;
    const under = alpha === 255 ? 0 : ((canvas[to + at + 3] as number) * (255 - alpha)) / 255;
    const whole = alpha + under;
    for (let part = 0; part < 3; part++) {
      const color = (pixels[from + at + part] as number) * alpha + (canvas[to + at + part] as number) * under;
      canvas[to + at + part] = Math.round(color / whole);
    }
    canvas[to + at + 3] = Math.round(whole);
  }
}
