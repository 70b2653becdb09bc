import { type Box, findBox, listBoxes } from "../../probe/isobmff/boxes.ts";
import { type ColorFacts, readColor } from "./heif-color.ts";
import { lastExtent } from "./heif-extent.ts";

/** Facts from the first bytes of an image, in ffprobe's terms. */
export interface PictureFacts extends ColorFacts {
  format_name: string;
  codec_name: string;
  width: number;
  height: number;
  /** Number of frames where known; more than 1 for an animation. */
  frames: number;
  pix_fmt?: string;
  /** Clockwise degrees by which players turn the decoded picture; absent for none. */
  rotation?: number;
  /** Bytes that the file must have; absent where the header does not say. */
  size?: number;
}

/** Parses the header of an AVIF or HEIC (ISO/IEC 23008-12); null for anything else. Throws a RangeError where the view ends too early. */
export function readHeif(view: DataView): PictureFacts | null {
  if (text(view, 4, 4) !== "ftyp") return null;
  const brands = text(view, 8, Math.min(view.getUint32(0), view.byteLength) - 8);
  const avif = /avif|avis/.test(brands);
  if (!avif && !/heic|heix|heim|heis|hevc|mif1|msf1/.test(brands)) return null;
  const full = findBox(view, { kind: "file", start: 0, end: view.byteLength }, "meta");
  // The missing part may say which picture is the primary.
  if (!full || full.start - 8 + view.getUint32(full.start - 8) > view.byteLength) return null;
  // Its version and flags come first.
  const meta = { ...full, start: full.start + 4 };
  const iprp = findBox(view, meta, "iprp");
  const ipco = iprp && findBox(view, iprp, "ipco");
  if (!ipco) return null;
  const properties = listBoxes(view, ipco.start, ipco.end);
  const own = primaryProperties(view, meta, iprp, properties);
  const { width, height } = sizeOf(view, own, properties);
  const turn = own.find(({ kind }) => kind === "irot");
  // Stored as quarters anticlockwise.
  const rotation = turn ? (360 - 90 * (view.getUint8(turn.start) & 3)) % 360 : 0;
  const frames = /avis|msf1|hevc/.test(brands) ? 2 : 1;
  const iloc = findBox(view, meta, "iloc");
  const size = iloc ? lastExtent(view, iloc) : null;
  const common = {
    frames,
    ...(size !== null && { size }),
    ...readColor(view, own.length > 0 ? own : properties),
    ...(properties.some((each) => isAlpha(view, each)) && { pix_fmt: "yuva420p" }),
  };
  if (avif) {
    const facts = { format_name: "avif", codec_name: "av1", width, height, ...common };
    return rotation === 0 ? facts : { ...facts, rotation };
  }
  // A decoder of HEIC turns the picture, so its size is the displayed one.
  const displayed = rotation % 180 === 0 ? { width, height } : { width: height, height: width };
  return { format_name: "heic", codec_name: "hevc", ...displayed, ...common };
}

/** Reads bytes as Latin-1. Throws a RangeError where the view ends too early. */
export function text(view: DataView, offset: number, length: number): string {
  let letters = "";
  for (let at = offset; at < offset + length; at++) letters += String.fromCharCode(view.getUint8(at));
  return letters;
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
  const clap = own.find(({ kind }) => kind === "clap");
  if (!clap) return size;
  // Each side of the visible part is a fraction.
  const side = (at: number) =>
    Math.round(view.getUint32(clap.start + at) / view.getUint32(clap.start + at + 4));
  const [width, height] = [side(0), side(8)];
  const isPart = width > 0 && height > 0 && width <= size.width && height <= size.height;
  return isPart ? { width, height } : size;
}

const ALPHA = /^urn:mpeg:(mpegB:cicp:systems:auxiliary:alpha|hevc:2015:auxid:1)\0/;

function isAlpha(view: DataView, { kind, start, end }: Box): boolean {
  return kind === "auxC" && ALPHA.test(text(view, start + 4, end - start - 4));
}

/** Returns the properties of the primary item, in its order; none where the file does not say. */
function primaryProperties(view: DataView, meta: Box, iprp: Box, all: readonly Box[]): Box[] {
  const pitm = findBox(view, meta, "pitm");
  const ipma = findBox(view, iprp, "ipma");
  if (!pitm || !ipma) return [];
  const id = (at: number, wide: boolean) => (wide ? view.getUint32(at) : view.getUint16(at));
  const primary = id(pitm.start + 4, view.getUint8(pitm.start) > 0);
  const wideIds = view.getUint8(ipma.start) > 0;
  const wide = (view.getUint8(ipma.start + 3) & 1) === 1;
  let at = ipma.start + 8;
  for (let left = view.getUint32(ipma.start + 4); left > 0 && at < ipma.end; left--) {
    const item = id(at, wideIds);
    at += wideIds ? 4 : 2;
    const count = view.getUint8(at++);
    // The highest bit says whether a property is essential.
    const indices = Array.from({ length: count }, (_, index) =>
      wide ? view.getUint16(at + 2 * index) & 0x7fff : view.getUint8(at + index) & 0x7f,
    );
    if (item === primary) return indices.flatMap((index) => all[index - 1] ?? []);
    at += wide ? 2 * count : count;
  }
  return [];
}
