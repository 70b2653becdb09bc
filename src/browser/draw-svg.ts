import type { Size } from "../media/picture-geometry.ts";
import * as errors from "./errors.ts";
import { DRAW_MS, type PageResponse, slowDrawing } from "./media-api.ts";
import { answerOf } from "./rpc.ts";

/**
 * Draws an SVG into a PNG of a size in pixels. An image element draws it, which runs no scripts and loads no external resources.
 * Workers cannot draw SVG, so the page draws in parts, stays responsive between them, and stops once `isOver` returns true. Never
 * rejects.
 */
export function drawSvg(
  file: Blob,
  { width, height }: Size,
  isOver = () => false,
): Promise<PageResponse<Blob>> {
  return answerOf(
    async () => {
      if (typeof Image === "undefined") throw errors.drawingUnavailable();
      const image = new Image();
      try {
        image.src = await dataUrl(file);
        await image.decode();
        const canvas = new OffscreenCanvas(width, height);
        await drawParts({ width, height }, drawerOf(image, canvas), createPause(isOver));
        return await canvas.convertToBlob({ type: "image/png" });
      } finally {
        image.removeAttribute("src");
      }
    },
    (cause) => errors.svgUnreadable({ cause }),
  );
}

// Browsers defer drawing until something reads the pixels.
function drawerOf(image: CanvasImageSource, canvas: OffscreenCanvas): DrawPart {
  const { width, height } = canvas;
  return (part, step) => {
    const start = performance.now();
    const scale = 2 ** -step;
    const target =
      step === 0
        ? canvas
        : new OffscreenCanvas(Math.ceil(part.width * scale), Math.ceil(part.height * scale));
    const context = target.getContext("2d", { willReadFrequently: true });
    if (!context) throw errors.pixelMemoryMissing();
    const [x, y] = step === 0 ? [0, 0] : [part.x, part.y];
    context.save();
    context.setTransform(scale, 0, 0, scale, -x * scale, -y * scale);
    context.beginPath();
    context.rect(part.x, part.y, part.width, part.height);
    context.clip();
    context.drawImage(image, 0, 0, width, height);
    context.restore();
    context.getImageData(0, 0, 1, 1);
    return performance.now() - start;
  };
}

/** Returns a pause that lets the page handle other events; throws `timeout` once drawing has taken too long or is over. */
function createPause(isOver: () => boolean): () => Promise<void> {
  const end = performance.now() + DRAW_MS;
  return async () => {
    const { port1, port2 } = new MessageChannel();
    const { promise, resolve } = Promise.withResolvers<void>();
    port2.onmessage = () => resolve();
    port1.postMessage(null);
    await promise;
    port1.close();
    if (performance.now() > end || isOver()) throw slowDrawing();
  };
}

// Chromium returns no pixels of an SVG with a foreignObject, such as those of draw.io, from an object URL.
function dataUrl(file: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
  return promise;
}

/** A part of a picture, in pixels. */
export interface Part extends Size {
  x: number;
  y: number;
}

/** Draws a part at 1 / 2 ** `step` of its size and returns the milliseconds that it took; step 0 draws to the output. */
type DrawPart = (part: Part, step: number) => number;

const SLICE_MS = 100;
const [MAX_PART_MS, MAX_WHOLE_MS] = [3000, 6000];
const PREVIEW_PIXELS = 1024;
const MIN_SIDE = 32;
// If each half takes more than this share of the whole's time, do not divide again until the time has grown by the factor.
const [FUTILE_SHARE, RETRY_FACTOR] = [0.7, 3];

/** Timing of a part before its next preview: its time one step smaller, and the least time that any part of it takes. */
interface Timing {
  smaller: number;
  floor: number;
}

/**
 * Draws a picture of unknown cost in parts of about a tenth of a second, with a `pause` before each. It previews a part in growing
 * sizes, each with four times the pixels of the last, and halves the part when the next size would be too slow. Throws `timeout`
 * when that does not help.
 */
export async function drawParts(size: Size, draw: DrawPart, pause: () => Promise<void>): Promise<void> {
  const whole = { x: 0, y: 0, ...size };

  async function preview(part: Part, step: number, { smaller, floor }: Timing): Promise<void> {
    await pause();
    const ms = draw(part, step);
    if (step > 0) await refine(part, step, ms, { smaller, floor });
  }

  async function refine(part: Part, step: number, ms: number, { smaller, floor }: Timing): Promise<void> {
    // Only the part of the time that depends on the size quadruples.
    const next = ms + 4 * Math.max(0, ms - smaller);
    const halves = next > SLICE_MS && ms >= RETRY_FACTOR * floor ? halve(part) : [];
    if (halves.length === 0) {
      if (next > (part === whole && step === 1 ? MAX_WHOLE_MS : MAX_PART_MS)) throw slowDrawing();
      return preview(part, step - 1, { smaller: ms, floor });
    }
    const times: number[] = [];
    for (const half of halves) {
      await pause();
      times.push(draw(half, step));
    }
    if (Math.min(...times) > FUTILE_SHARE * ms) return refine(part, step, ms, { smaller, floor: ms });
    for (const [index, half] of halves.entries()) {
      const time = times[index] ?? ms;
      await refine(half, step, time, { smaller: smaller * (time / ms), floor });
    }
  }

  const step = Math.max(0, Math.ceil(Math.log2((size.width * size.height) / PREVIEW_PIXELS) / 2));
  // The first draw also decodes the picture, so its time does not count.
  draw(whole, step + 1);
  await pause();
  const smaller = draw(whole, step + 1);
  await preview(whole, step, { smaller, floor: 0 });
}

function halve({ x, y, width, height }: Part): Part[] {
  if (Math.max(width, height) < 2 * MIN_SIDE) return [];
  const [across, down] = [Math.ceil(width / 2), Math.ceil(height / 2)];
  return width >= height
    ? [
        { x, y, width: across, height },
        { x: x + across, y, width: width - across, height },
      ]
    : [
        { x, y, width, height: down },
        { x, y: y + down, width, height: height - down },
      ];
}
