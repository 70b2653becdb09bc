import { MediaError } from "../../../core/errors.ts";
import type { Frame } from "./apng.ts";
import type { WebpAnimation, WebpFrame } from "./webp.ts";

/** Decodes a still WebP to straight RGBA; null when it is damaged. */
export type DecodeStill = (frame: WebpFrame) => Promise<Uint8Array | Uint8ClampedArray | null>;

/** Draws the frames of an animation one over the other, and yields the whole canvas after each; its pixels change with the next one. */
export async function* composeFrames(animation: WebpAnimation, decode: DecodeStill): AsyncGenerator<Frame> {
  const { width, height, frames } = animation;
  const canvas = new Uint8Array(width * height * 4);
  for (const frame of frames) {
    const pixels = await decode(frame);
    if (pixels?.length !== frame.width * frame.height * 4) {
      throw new MediaError("input_unsupported", "The input is damaged or cut off.");
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
