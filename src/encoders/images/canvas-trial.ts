import { FORMATS, type ImageFormat } from "../../core/formats.ts";
import type { RefusalReason } from "../../core/refusal.ts";

const SIDE = 32;
const COLORS = [
  [200, 40, 40],
  [40, 200, 40],
  [40, 40, 200],
  [220, 220, 40],
] as const;
// How far a color, of 255, may shift in lossy compression.
const LOSS = 24;

/**
 * Draws a few colors, encodes them and checks the result: browsers write PNG for formats they do not know, and some alter
 * what is drawn to prevent fingerprinting. Returns why the canvas cannot be used, or null; never rejects.
 */
export async function tryCanvas(format: ImageFormat): Promise<RefusalReason | null> {
  if (typeof OffscreenCanvas === "undefined") return { code: "no_canvas" };
  const { mime } = FORMATS.image[format];
  const unwritten = { code: "output_format", format, animated: false } as const;
  try {
    const context = open();
    for (const [index, color] of COLORS.entries()) {
      context.fillStyle = `rgb(${color.join()})`;
      context.fillRect(index * SIDE, 0, SIDE, SIDE);
    }
    if (farOff(context) > 0) return ALTERED;
    const blob = await context.canvas.convertToBlob({ type: mime, quality: 0.9 });
    if (blob.type !== mime) return unwritten;
    const written = await createImageBitmap(blob);
    const again = open();
    again.drawImage(written, 0, 0);
    written.close();
    return farOff(again) > LOSS ? ALTERED : null;
  } catch {
    return unwritten;
  }
}

const ALTERED = { code: "canvas_altered" } as const;

function open(): OffscreenCanvasRenderingContext2D {
  const canvas = new OffscreenCanvas(SIDE * COLORS.length, SIDE);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new RangeError("There is no canvas to draw on.");
  return context;
}

// The largest distance of any sampled pixel from its color; edges are not sampled, as any loss blurs them.
function farOff(context: OffscreenCanvasRenderingContext2D): number {
  let most = 0;
  for (const [index, color] of COLORS.entries()) {
    const { data } = context.getImageData(index * SIDE + SIDE / 4, SIDE / 4, SIDE / 2, SIDE / 2);
    for (let at = 0; at < data.length; at += 4) {
      for (const [channel, value] of color.entries()) {
        most = Math.max(most, Math.abs((data[at + channel] ?? 0) - value));
      }
    }
  }
  return most;
}
