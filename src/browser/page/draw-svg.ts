import { MediaError } from "../../media/errors.ts";
import type { Size } from "../../media/picture-geometry.ts";
import { DRAW_MS, type PageAnswer, slowDrawing } from "../media-api.ts";
import { answerOf } from "../rpc.ts";

/**
 * Draws an SVG as an image element does, which runs no script in it and loads nothing that it names, into a PNG of a size in
 * pixels. Browsers draw none in a worker, so the page does it in parts, and stays responsive between them, until `isOver` returns
 * true. Never rejects.
 */
export function drawSvg(
  file: Blob,
  { width, height }: Size,
  isOver = () => false,
): Promise<PageAnswer<Blob>> {
  return answerOf(
    async () => {
      if (typeof Image === "undefined") {
        throw new MediaError(
          "encoder_unavailable",
          "Only a page can draw an SVG, and this client runs in a worker.",
        );
      }
      const image = new Image();
      try {
        image.src = await dataUrl(file);
        await image.decode();
        const canvas = new OffscreenCanvas(width, height);
        await drawParts({ width, height }, drawerOf(image, canvas), createPause(isOver));
        return await canvas.convertToBlob({ type: "image/png" });
      } finally {
        // Ends its animations.
        image.removeAttribute("src");
      }
    },
    (cause) =>
      new MediaError("input_unsupported", "The SVG is damaged, or this browser cannot draw it.", { cause }),
  );
}

// Returns once the pixels are there; browsers put off drawing until something reads them.
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
    if (!context)
      throw new MediaError("out_of_memory", "The browser has no memory for the pixels of the SVG.");
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

/** Returns a pause in which the page does whatever else waits; throws `timeout` once drawing has lasted too long, or is over. */
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

// From an object URL, Chromium returns no pixels of an SVG with a foreignObject, as draw.io writes them.
function dataUrl(file: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
  return promise;
}

/** A part of a picture, in its pixels. */
export interface Part extends Size {
  x: number;
  y: number;
}

/** Draws a part at 1 / 2 ** `step` of its size, for good at step 0, and returns the milliseconds that it took. */
type DrawPart = (part: Part, step: number) => number;

// The longest that a visitor does not notice, and the longest where dividing does not make it faster: of a part or a look, and of
// all at once.
const [SLICE_MS, PART_MS, WHOLE_MS] = [100, 3000, 6000];
// Of the first look at a picture.
const LOOK_PIXELS = 1024;
const LEAST_SIDE = 32;
// Where both halves take more of the time of the whole, dividing helps little until the time has grown by this factor.
const [ALIKE, GROWN] = [0.7, 3];

/** What is known of a part before a look at it: its time one step smaller, and the least time that any part of it takes. */
interface Known {
  smaller: number;
  floor: number;
}

/**
 * Draws a picture of unknown cost in parts of about a tenth of a second, with a `pause` before each. A part is looked at in growing
 * sizes, each with four times the pixels of the last, and halved where the next would be too slow; throws `timeout` where that
 * does not help.
 */
export async function drawParts(size: Size, draw: DrawPart, pause: () => Promise<void>): Promise<void> {
  const whole = { x: 0, y: 0, ...size };

  async function look(part: Part, step: number, { smaller, floor }: Known): Promise<void> {
    await pause();
    const ms = draw(part, step);
    if (step > 0) await go(part, step, ms, { smaller, floor });
  }

  async function go(part: Part, step: number, ms: number, { smaller, floor }: Known): Promise<void> {
    // Some of the time is the same at any size.
    const next = ms + 4 * Math.max(0, ms - smaller);
    const halves = next > SLICE_MS && ms >= GROWN * floor ? halve(part) : [];
    if (halves.length === 0) {
      if (next > (part === whole && step === 1 ? WHOLE_MS : PART_MS)) throw slowDrawing();
      return look(part, step - 1, { smaller: ms, floor });
    }
    const times: number[] = [];
    for (const half of halves) {
      await pause();
      times.push(draw(half, step));
    }
    // Each half would take the time of the whole again.
    if (Math.min(...times) > ALIKE * ms) return go(part, step, ms, { smaller, floor: ms });
    for (const [index, half] of halves.entries()) {
      const taken = times[index] ?? ms;
      await go(half, step, taken, { smaller: smaller * (taken / ms), floor });
    }
  }

  const step = Math.max(0, Math.ceil(Math.log2((size.width * size.height) / LOOK_PIXELS) / 2));
  // The first draw reads the picture too.
  draw(whole, step + 1);
  await pause();
  const smaller = draw(whole, step + 1);
  await look(whole, step, { smaller, floor: 0 });
}

function halve({ x, y, width, height }: Part): Part[] {
  if (Math.max(width, height) < 2 * LEAST_SIDE) return [];
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
