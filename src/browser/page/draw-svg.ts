import { MediaError } from "../../core/errors.ts";
import type { Size } from "../../plan/size.ts";
import { DRAW_MS, type PageAnswer, slowDrawing } from "../media-api.ts";
import { answerOf } from "../rpc.ts";
import { type DrawPart, drawParts } from "./draw-parts.ts";

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
