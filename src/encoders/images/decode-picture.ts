import { MediaError } from "../../core/errors.ts";
import type { Source } from "../../core/source.ts";
import type { DecodedFormat } from "../../plan/image/decoded.ts";
import { concatBytes } from "../../util/bytes.ts";
import type { EncodedFile } from "../encoder.ts";
import { writeApng } from "./animated/apng.ts";
import { composeFrames } from "./animated/compose.ts";
import { readAnimation } from "./animated/webp.ts";
import { writeBmp } from "./bmp.ts";
import { decodeHeif } from "./libheif.ts";

/** Returns the format in which {@link decodePicture} writes a source. */
export function decodedFormat({ has_alpha, animated }: Source): DecodedFormat {
  return has_alpha || animated ? "png" : "bmp";
}

/**
 * Decodes a picture for encoders that cannot, as it is shown and in sRGB: by the browser itself, or a HEIC by libheif where the
 * browser has no decoder for it. Rejects with `input_unsupported` when neither can.
 */
export async function decodePicture(blob: Blob, source: Source): Promise<EncodedFile> {
  const format = decodedFormat(source);
  if (source.animated) return decodeAnimation(blob);
  const context = (await drawByBrowser(blob, source)) ?? (await drawByLibheif(blob, source));
  if (!context) {
    throw new MediaError("input_unsupported", "The picture is damaged, or this browser cannot decode it.");
  }
  const file = { name: `decoded.${format}`, mime: `image/${format}` };
  const { canvas } = context;
  if (format === "bmp") {
    return { ...file, bytes: writeBmp(context.getImageData(0, 0, canvas.width, canvas.height)) };
  }
  const png = await canvas.convertToBlob({ type: file.mime });
  return { ...file, bytes: new Uint8Array(await png.arrayBuffer()) };
}

async function decodeAnimation(blob: Blob): Promise<EncodedFile> {
  const animation = readAnimation(new Uint8Array(await blob.arrayBuffer()));
  const { width, height, frames } = animation;
  const drawn = composeFrames(animation, async ({ still, ...frame }) => {
    const bitmap = await createImageBitmap(new Blob([still])).catch(() => null);
    // A still may be larger than its frame declares.
    if (bitmap?.width !== frame.width || bitmap.height !== frame.height) return null;
    const context = openCanvas(bitmap.width, bitmap.height);
    context.drawImage(bitmap, 0, 0);
    bitmap.close();
    return context.getImageData(0, 0, context.canvas.width, context.canvas.height).data;
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of writeApng({ width, height, count: frames.length }, drawn)) pieces.push(piece);
  return { name: "decoded.png", mime: "image/png", bytes: concatBytes(pieces) };
}

async function drawByBrowser(blob: Blob, source: Source): Promise<OffscreenCanvasRenderingContext2D | null> {
  const bitmap = await createImageBitmap(blob).catch(() => null);
  if (!bitmap) return null;
  const context = openCanvas(source.width ?? bitmap.width, source.height ?? bitmap.height);
  const { width, height } = context.canvas;
  context.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  return context;
}

async function drawByLibheif(blob: Blob, source: Source): Promise<OffscreenCanvasRenderingContext2D | null> {
  if (source.format !== "heic") return null;
  const decoded = await decodeHeif(new Uint8Array(await blob.arrayBuffer()));
  if (!decoded) return null;
  const { data, width, height } = decoded;
  // libheif converts no colors: the canvas does.
  const colorSpace = source.color?.primaries === "smpte432" ? "display-p3" : "srgb";
  const context = openCanvas(width, height);
  context.putImageData(new ImageData(data, width, height, { colorSpace }), 0, 0);
  return context;
}

function openCanvas(width: number, height: number): OffscreenCanvasRenderingContext2D {
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (!context) throw new MediaError("encoder_unavailable", "This browser has no canvas to draw on.");
  return context;
}
