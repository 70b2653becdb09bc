import { convertPixels } from "../../media/color-conversion.ts";
import { composesFrames, type DecodedFormat, decodesFrames } from "../../media/decoded-pictures.ts";
import type { Size } from "../../media/picture-geometry.ts";
import type { Source } from "../../media/source.ts";
import { type HeifLayers, readLayers } from "../../probe/heif.ts";
import { concatBytes } from "../../util/bytes.ts";
import type { EncodedFile } from "../encoder.ts";
import * as errors from "../errors.ts";
import { composeFrames, readAnimation } from "./animation.ts";
import type { Drawn } from "./draw-image.ts";
import { type Frame, writeApng } from "./png.ts";

/** Returns the format in which {@link decodePicture} writes a source. */
export function decodedFormat(source: Source): DecodedFormat {
  return source.has_alpha || decodesFrames(source) ? "png" : "bmp";
}

/**
 * Decodes a picture for encoders that cannot, upright and in sRGB: with the browser's decoder, or, for HEIC, with libheif if the browser
 * has none. Rejects with `input_unsupported` when neither can.
 */
export async function decodePicture(blob: Blob, source: Source): Promise<EncodedFile> {
  const format = decodedFormat(source);
  if (decodesFrames(source)) return composesFrames(source) ? decodeWebp(blob) : decodeFrames(blob);
  const context = (await drawByBrowser(blob, source)) ?? (await drawByLibheif(blob, source));
  if (!context) throw errors.pictureUnreadable();
  const file = { name: `decoded.${format}`, mime: `image/${format}` };
  const { canvas } = context;
  if (format === "bmp") {
    return { ...file, bytes: writeBmp(context.getImageData(0, 0, canvas.width, canvas.height)) };
  }
  const png = await canvas.convertToBlob({ type: file.mime });
  return { ...file, bytes: new Uint8Array(await png.arrayBuffer()) };
}

async function decodeWebp(blob: Blob): Promise<EncodedFile> {
  const animation = readAnimation(new Uint8Array(await blob.arrayBuffer()));
  const { width, height, frames } = animation;
  const pictures = composeFrames(animation, async ({ still, ...frame }) => {
    const bitmap = await createImageBitmap(new Blob([still])).catch(() => null);
    if (bitmap?.width !== frame.width || bitmap.height !== frame.height) return null;
    const context = openCanvas(bitmap.width, bitmap.height);
    context.drawImage(bitmap, 0, 0);
    bitmap.close();
    return context.getImageData(0, 0, context.canvas.width, context.canvas.height).data;
  });
  return toApng({ width, height, count: frames.length }, pictures);
}

async function decodeFrames(blob: Blob): Promise<EncodedFile> {
  const decoder = new ImageDecoder({ data: await blob.arrayBuffer(), type: "image/avif" });
  const damaged = (cause: unknown) => {
    throw errors.pictureUnreadable({ cause });
  };
  try {
    await decoder.tracks.ready.catch(damaged);
    await decoder.completed.catch(damaged);
    const count = decoder.tracks.selectedTrack?.frameCount ?? 0;
    const first = await decoder.decode().catch(damaged);
    const { displayWidth: width, displayHeight: height } = first.image;
    first.image.close();
    async function* frames(): AsyncGenerator<Frame> {
      for (let frameIndex = 0; frameIndex < count; frameIndex++) {
        const { image } = await decoder.decode({ frameIndex }).catch(damaged);
        const context = openCanvas(width, height);
        context.drawImage(image, 0, 0, width, height);
        const duration = (image.duration ?? 0) / 1000;
        image.close();
        yield { pixels: context.getImageData(0, 0, width, height).data, duration };
      }
    }
    return await toApng({ width, height, count }, frames());
  } finally {
    decoder.close();
  }
}

async function toApng(
  facts: { width: number; height: number; count: number },
  frames: AsyncIterable<Frame>,
): Promise<EncodedFile> {
  const pieces: Uint8Array[] = [];
  for await (const piece of writeApng(facts, frames)) pieces.push(piece);
  return { name: "decoded.png", mime: "image/png", bytes: concatBytes(pieces) };
}

async function drawByBrowser(blob: Blob, source: Source): Promise<Drawn | null> {
  const layers = /^(avif|heic)$/.test(source.format)
    ? readLayers(new Uint8Array(await blob.arrayBuffer()))
    : null;
  const merged = layers?.split && (await drawLayers(layers, source));
  return merged || drawVisible(blob, source, layers);
}

async function drawVisible(
  picture: BlobPart,
  source: Pick<Source, "width" | "height">,
  layers: HeifLayers | null,
): Promise<Drawn | null> {
  const bitmap = await createImageBitmap(new Blob([picture])).catch(() => null);
  if (!bitmap) return null;
  const context = openCanvas(source.width ?? bitmap.width, source.height ?? bitmap.height);
  const { width, height } = context.canvas;
  const { x, y, ...part } = visiblePart(bitmap, layers) ?? { x: 0, y: 0, ...sizeOf(bitmap) };
  context.drawImage(bitmap, x, y, part.width, part.height, 0, 0, width, height);
  bitmap.close();
  return context;
}

// Chromium 156 ignores the crop of a HEIF picture; a browser that applies it returns a smaller bitmap.
function visiblePart({ width, height }: Size, layers: HeifLayers | null): HeifLayers["part"] {
  const { whole } = layers?.part ?? {};
  return whole?.width === width && whole.height === height ? (layers?.part ?? null) : null;
}

function sizeOf({ width, height }: Size): Size {
  return { width, height };
}

// Chromium 156 expands the alpha of a still as if it were in limited range; decoded as a picture of its own, it is correct.
async function drawLayers(layers: HeifLayers, source: Source): Promise<Drawn | null> {
  const { colors, alpha } = layers.split ?? {};
  if (!colors || !alpha) return null;
  const [pixels, mask] = [
    await drawVisible(colors, source, layers),
    await drawVisible(alpha, source, layers),
  ];
  if (!pixels || !mask) return null;
  const { width, height } = pixels.canvas;
  const picture = pixels.getImageData(0, 0, width, height);
  const gray = mask.getImageData(0, 0, width, height).data;
  for (let at = 0; at < gray.length; at += 4) picture.data[at + 3] = gray[at] as number;
  if (layers.premultiplied) unpremultiply(picture.data);
  pixels.putImageData(picture, 0, 0);
  return pixels;
}

async function drawByLibheif(blob: Blob, source: Source): Promise<Drawn | null> {
  if (source.format !== "heic") return null;
  const file = new Uint8Array(await blob.arrayBuffer());
  const decoded = await decodeHeif(file);
  if (!decoded) return null;
  const { data, width, height } = decoded;
  if (readLayers(file)?.premultiplied) unpremultiply(data);
  const { to_srgb } = source.color_profile ?? {};
  if (to_srgb) convertPixels(data, to_srgb);
  const context = openCanvas(width, height);
  context.putImageData(new ImageData(data, width, height), 0, 0);
  return context;
}

function unpremultiply(data: Uint8ClampedArray): void {
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3] as number;
    if (alpha === 0 || alpha === 255) continue;
    for (let part = at; part < at + 3; part++) data[part] = ((data[part] as number) * 255) / alpha;
  }
}

function openCanvas(width: number, height: number): Drawn {
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  if (!context) throw errors.canvasMissing();
  return context;
}

const HEAD = 54;

/** Writes opaque RGBA pixels as a BMP of 24 bits: large, but trivial to read. */
function writeBmp({ data, width, height }: ImageData): Uint8Array<ArrayBuffer> {
  const row = Math.ceil((width * 3) / 4) * 4;
  const bytes = new Uint8Array(HEAD + row * height);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0x424d);
  view.setUint32(2, bytes.length, true);
  view.setUint32(10, HEAD, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, width, true);
  view.setInt32(22, -height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  view.setUint32(34, row * height, true);
  for (let y = 0, from = 0; y < height; y++) {
    for (let at = HEAD + y * row, end = at + width * 3; at < end; at += 3, from += 4) {
      bytes[at] = data[from + 2] as number;
      bytes[at + 1] = data[from + 1] as number;
      bytes[at + 2] = data[from] as number;
    }
  }
  return bytes;
}

interface HeifImage {
  get_width(): number;
  get_height(): number;
  is_primary(): boolean;
  /** Calls back with straight RGBA in `target`, or null when the picture is damaged. */
  display(target: ImageData, done: (drawn: ImageData | null) => void): void;
  free(): void;
}

type Create = () => Libheif | Promise<Libheif>;

interface Libheif {
  HeifDecoder: new () => { decode(file: Uint8Array): HeifImage[] };
}

/**
 * Decodes the primary picture of a HEIC with libheif in wasm, rotated and mirrored as viewers show it; null when it is damaged. The first
 * call loads the wasm (0.7 MB compressed). Runs synchronously: to cancel it, terminate its worker. Rejects with `encoder_unavailable`
 * when the wasm cannot be loaded.
 */
async function decodeHeif(file: Uint8Array): Promise<ImageData | null> {
  // A new instance for each picture, because wasm memory never shrinks.
  const create = await load();
  const { HeifDecoder } = await create();
  const images = new HeifDecoder().decode(file);
  const image = images.find((each) => each.is_primary()) ?? images[0];
  if (!image) return null;
  const pixels = new ImageData(image.get_width(), image.get_height());
  const done = Promise.withResolvers<ImageData | null>();
  image.display(pixels, done.resolve);
  return done.promise;
}

async function load(): Promise<Create> {
  try {
    // @ts-expect-error: the package has no types for this file.
    const module: { default: Create } = await import("libheif-js/libheif-wasm/libheif-bundle.mjs");
    return module.default;
  } catch (cause) {
    throw errors.heicDecoderUnloaded({ cause });
  }
}
