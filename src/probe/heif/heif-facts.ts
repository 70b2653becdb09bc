import { type Box, findBox } from "../isobmff/boxes.ts";
import { type ColorFacts, readColor } from "./heif-color.ts";
import { lastExtent } from "./heif-extent.ts";
import { readItems } from "./heif-items.ts";
import { hasAlphaLayer, isPremultiplied } from "./heif-layers.ts";
import { cleanPart } from "./heif-part.ts";

/** Facts from the first bytes of an image, in ffprobe's terms. */
export interface PictureFacts extends ColorFacts {
  format_name: string;
  codec_name: string;
  width: number;
  height: number;
  /** Number of frames where known; more than 1 for an animation. */
  frames: number;
  pix_fmt?: string;
  alpha_mode?: "premultiplied";
  /** Clockwise degrees by which players turn the decoded picture; absent for none. */
  rotation?: number;
  /** Bytes that the file must have; absent where the header does not say. */
  size?: number;
}

/** Parses the header of an AVIF or HEIC (ISO/IEC 23008-12); null for anything else. Throws a RangeError where the view ends too early. */
export function readHeif(view: DataView): PictureFacts | null {
  const items = readItems(view);
  if (!items) return null;
  const { brands, meta, properties, primary } = items;
  const own = primary === null ? [] : items.propertiesOf(primary);
  const { width, height } = sizeOf(view, own, properties);
  const turn = own.find(({ kind }) => kind === "irot");
  // Stored as quarters anticlockwise.
  const rotation = turn ? (360 - 90 * (view.getUint8(turn.start) & 3)) % 360 : 0;
  const frames = /avis|msf1|hevc|hevx/.test(brands) ? 2 : 1;
  const iloc = findBox(view, meta, "iloc");
  const size = iloc ? lastExtent(view, iloc) : null;
  const pix_fmt = pixelsOf(view, [...own, ...properties], hasAlphaLayer(items));
  const common = {
    frames,
    ...(size !== null && { size }),
    ...readColor(view, own.length > 0 ? own : properties),
    ...(pix_fmt !== null && { pix_fmt }),
    ...(isPremultiplied(items) && { alpha_mode: "premultiplied" as const }),
  };
  if (/avif|avis/.test(brands)) {
    const facts = { format_name: "avif", codec_name: "av1", width, height, ...common };
    return rotation === 0 ? facts : { ...facts, rotation };
  }
  // A decoder of HEIC turns the picture, so its size is the displayed one.
  const displayed = rotation % 180 === 0 ? { width, height } : { width: height, height: width };
  return { format_name: "heic", codec_name: "hevc", ...displayed, ...common };
}

const CHROMA = ["gray", "yuv420p", "yuv422p", "yuv444p"];

// The configuration of the first decoder: the picture's own, or that of its tiles.
function pixelsOf(view: DataView, properties: readonly Box[], alpha: boolean): string | null {
  const config = properties.find(({ kind }) => kind === "av1C" || kind === "hvcC");
  const [chroma, depth] = config ? depthOf(view, config) : [1, 8];
  if (!config && !alpha) return null;
  const plain = CHROMA[alpha && chroma === 0 ? 1 : chroma] ?? "yuv420p";
  const pixels = alpha ? plain.replace("yuv", "yuva") : plain;
  return depth === 8 ? pixels : `${pixels}${depth}le`;
}

// AV1 in ISO base media, 2.3; ISO/IEC 14496-15, 8.3.3.1.
function depthOf(view: DataView, { kind, start }: Box): [chroma: number, depth: number] {
  if (kind === "hvcC") return [view.getUint8(start + 16) & 3, 8 + (view.getUint8(start + 17) & 7)];
  const bits = view.getUint8(start + 2);
  const depth = bits & 0x20 ? 12 : bits & 0x40 ? 10 : 8;
  return [bits & 0x10 ? 0 : bits & 0x08 ? (bits & 0x04 ? 1 : 2) : 3, depth];
}

function sizeOf(view: DataView, own: readonly Box[], all: readonly Box[]): { width: number; height: number } {
  const sizes = (list: readonly Box[]) =>
    list
      .filter(({ kind }) => kind === "ispe")
      .map(({ start }) => ({ width: view.getUint32(start + 4), height: view.getUint32(start + 8) }));
  // Where the file does not say which are the picture's own: it is larger than its tiles and thumbnails.
  const [size = { width: 0, height: 0 }] = sizes(own).concat(
    sizes(all).toSorted((a, b) => b.width * b.height - a.width * a.height),
  );
  const beforeTurns = own.filter(({ kind }) => kind === "ispe" || kind === "clap");
  return cleanPart(view, beforeTurns) ?? size;
}
