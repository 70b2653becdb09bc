import type { Size } from "../media/picture-geometry.ts";
import type { ByteRange } from "../runs/ports.ts";
import { bytesOf, latinText, readOr, viewOf } from "../util/bytes.ts";
import { readColorants } from "./icc.ts";
import {
  type Box,
  findBox,
  listBoxes,
  MAX_INDEX,
  MAX_TOP_BOXES,
  readBoxHeader,
  readTrackId,
  readTracks,
} from "./mp4-boxes.ts";

/** Facts from the first bytes of an image, in ffprobe's terms. */
export interface PictureFacts extends ColorFacts {
  format_name: string;
  codec_name: string;
  width: number;
  height: number;
  /** Number of frames if known; more than 1 for an animation. */
  frames: number;
  pix_fmt?: string;
  alpha_mode?: "premultiplied";
  /** Clockwise degrees by which players rotate the decoded picture; absent for none. */
  rotation?: number;
  /** Minimum length of the complete file in bytes; absent when the header does not say. */
  size?: number;
}

/** Parses the header of an AVIF or HEIC (ISO/IEC 23008-12); null for any other file. Throws a RangeError when the view ends too early. */
export function readHeif(view: DataView): PictureFacts | null {
  const items = readItems(view);
  if (!items) return null;
  const { brands, meta, properties, primary } = items;
  const own = primary === null ? [] : items.propertiesOf(primary);
  const { width, height } = sizeOf(view, own, properties);
  const irot = own.find(({ kind }) => kind === "irot");
  // The file counts quarter turns counterclockwise.
  const rotation = irot ? (360 - 90 * (view.getUint8(irot.start) & 3)) % 360 : 0;
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
  // HEIC decoders apply the rotation, so report the displayed size.
  const displayed = rotation % 180 === 0 ? { width, height } : { width: height, height: width };
  return { format_name: "heic", codec_name: "hevc", ...displayed, ...common };
}

const CHROMA = ["gray", "yuv420p", "yuv422p", "yuv444p"];

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
  // If the file does not name the picture's own size, take the largest: tiles and thumbnails are smaller.
  const [size = { width: 0, height: 0 }] = sizes(own).concat(
    sizes(all).toSorted((a, b) => b.width * b.height - a.width * a.height),
  );
  const beforeRotation = own.filter(({ kind }) => kind === "ispe" || kind === "clap");
  return cleanPart(view, beforeRotation) ?? size;
}

/** The items of an AVIF or HEIC (ISO/IEC 23008-12), as listed in its `meta` box. */
interface HeifItems {
  view: DataView;
  brands: string;
  /** The content of `meta`, after its version and flags. */
  meta: Box;
  /** All properties; items refer to them by position, from 1. */
  properties: readonly Box[];
  /** Id of the picture that viewers show; null when the file does not say. */
  primary: number | null;
  /** Returns the properties of an item, in order; empty when the file lists none. */
  propertiesOf(item: number): Box[];
}

/** Reads the items of an AVIF or HEIC; null for any other file. Throws a RangeError when the view ends too early. */
function readItems(view: DataView): HeifItems | null {
  if (latinText(view, 4, 4) !== "ftyp") return null;
  const brands = latinText(view, 8, Math.min(view.getUint32(0), view.byteLength) - 8);
  if (!/avif|avis|heic|heix|heim|heis|hevc|hevx|mif1|msf1/.test(brands)) return null;
  const full = findBox(view, { kind: "file", start: 0, end: view.byteLength }, "meta");
  // The rest of a truncated box may name the primary picture.
  if (!full || full.start - 8 + view.getUint32(full.start - 8) > view.byteLength) return null;
  const meta = { ...full, start: full.start + 4 };
  const iprp = findBox(view, meta, "iprp");
  const ipco = iprp && findBox(view, iprp, "ipco");
  if (!ipco) return null;
  const properties = listBoxes(view, ipco.start, ipco.end);
  const places = placesOf(view, iprp);
  const pitm = findBox(view, meta, "pitm");
  return {
    view,
    brands,
    meta,
    properties,
    primary: pitm && readId(view, pitm.start + 4, view.getUint8(pitm.start) > 0),
    propertiesOf: (item) => (places.get(item) ?? []).flatMap((place) => properties[place - 1] ?? []),
  };
}

function readId(view: DataView, at: number, wide: boolean): number {
  return wide ? view.getUint32(at) : view.getUint16(at);
}

function placesOf(view: DataView, iprp: Box): ReadonlyMap<number, readonly number[]> {
  const places = new Map<number, readonly number[]>();
  const ipma = findBox(view, iprp, "ipma");
  if (!ipma) return places;
  const wideIds = view.getUint8(ipma.start) > 0;
  const wide = (view.getUint8(ipma.start + 3) & 1) === 1;
  let at = ipma.start + 8;
  for (let remaining = view.getUint32(ipma.start + 4); remaining > 0 && at < ipma.end; remaining--) {
    const item = readId(view, at, wideIds);
    at += wideIds ? 4 : 2;
    const count = view.getUint8(at++);
    const own = Array.from({ length: count }, (_, index) =>
      wide ? view.getUint16(at + 2 * index) & 0x7fff : view.getUint8(at + index) & 0x7f,
    );
    if (!places.has(item)) places.set(item, own);
    at += wide ? 2 * count : count;
  }
  return places;
}

/** The layers of a HEIF picture, for decoders that do not compose them as viewers must. */
export interface HeifLayers {
  /** The visible part; null when the whole picture is visible. */
  part: CleanPart | null;
  /** Whether the colors are premultiplied by alpha. */
  premultiplied: boolean;
  /** The file without its alpha layer, and the file with only the alpha layer, as a gray picture; null when it has no alpha. */
  split: { colors: Uint8Array<ArrayBuffer>; alpha: Uint8Array<ArrayBuffer> } | null;
}

const ALPHA = /^urn:mpeg:(mpegB:cicp:systems:auxiliary:alpha|hevc:2015:auxid:1)\0/;

function isPremultiplied(items: HeifItems): boolean {
  return linksOf(items).some(({ kind, from }) => kind === "prem" && from === items.primary);
}

/** Reads the layers of the primary picture; null when the file is not AVIF or HEIC, or is damaged. */
export function readLayers(file: Uint8Array): HeifLayers | null {
  return readOr(null, () => {
    const items = readItems(viewOf(file));
    if (!items || items.primary === null) return null;
    const { view, primary } = items;
    const links = linksOf(items);
    const alpha = links.find(
      ({ kind, from, to }) => kind === "auxl" && to.includes(primary) && hasAlphaType(items, from),
    );
    return {
      part: cleanPart(view, items.propertiesOf(primary)),
      premultiplied: isPremultiplied(items),
      split: alpha ? splitLayers(file, items, links, alpha.from) : null,
    };
  });
}

function hasAlphaLayer({ view, properties }: Pick<HeifItems, "view" | "properties">): boolean {
  return properties.some(
    ({ kind, start, end }) => kind === "auxC" && ALPHA.test(latinText(view, start + 4, end - start - 4)),
  );
}

function hasAlphaType({ view, propertiesOf }: HeifItems, item: number): boolean {
  return hasAlphaLayer({ view, properties: propertiesOf(item) });
}

/** A reference between items, and the offset of its type in the file. */
interface Link {
  kind: string;
  at: number;
  from: number;
  to: readonly number[];
}

function linksOf({ view, meta }: HeifItems): Link[] {
  const iref = findBox(view, meta, "iref");
  if (!iref) return [];
  const wide = view.getUint8(iref.start) > 0;
  const bytes = wide ? 4 : 2;
  return listBoxes(view, iref.start + 4, iref.end).map(({ kind, start }) => ({
    kind,
    at: start - 4,
    from: readId(view, start, wide),
    to: Array.from({ length: view.getUint16(start + bytes) }, (_, index) =>
      readId(view, start + bytes + 2 + index * bytes, wide),
    ),
  }));
}

// Readers skip references of an unknown type.
const UNKNOWN = new TextEncoder().encode("none");

function splitLayers(
  file: Uint8Array,
  { view, meta, primary }: HeifItems,
  links: readonly Link[],
  alpha: number,
): HeifLayers["split"] {
  const pitm = findBox(view, meta, "pitm");
  if (!pitm) return null;
  const colors = Uint8Array.from(file);
  for (const { kind, at, from, to } of links) {
    const binds = kind === "auxl" ? from === alpha && to.includes(primary ?? 0) : kind === "prem";
    if (binds) colors.set(UNKNOWN, at);
  }
  const gray = Uint8Array.from(colors);
  const place = new DataView(gray.buffer);
  if (view.getUint8(pitm.start) > 0) place.setUint32(pitm.start + 4, alpha);
  else place.setUint16(pitm.start + 4, alpha);
  return { colors, alpha: gray };
}

/** The visible part of a larger picture, after rotation and mirroring. */
interface CleanPart extends Size {
  x: number;
  y: number;
  whole: Size;
}

/** Returns the visible part of a picture by applying its properties in order; null when they state none or an impossible one. */
function cleanPart(view: DataView, properties: readonly Box[]): CleanPart | null {
  const ispe = properties.find(({ kind }) => kind === "ispe");
  if (!ispe) return null;
  let part: CleanPart | null = null;
  let whole: Size = { width: view.getUint32(ispe.start + 4), height: view.getUint32(ispe.start + 8) };
  for (const { kind, start } of properties) {
    if (kind === "clap") part = readClap(view, start, whole);
    if (kind === "irot") {
      for (let quarters = view.getUint8(start) & 3; quarters > 0; quarters--) {
        const rotated = { width: whole.height, height: whole.width };
        part &&= {
          x: part.y,
          y: whole.width - part.x - part.width,
          width: part.height,
          height: part.width,
          whole: rotated,
        };
        whole = rotated;
      }
    }
    if (kind === "imir" && part) {
      part =
        view.getUint8(start) & 1
          ? { ...part, x: whole.width - part.x - part.width }
          : { ...part, y: whole.height - part.y - part.height };
    }
  }
  return part;
}

function readClap(view: DataView, start: number, whole: Size): CleanPart | null {
  const [width, height] = [0, 8].map((at) =>
    Math.round(view.getUint32(start + at) / view.getUint32(start + at + 4)),
  ) as [number, number];
  const [right, down] = [16, 24].map((at) => view.getInt32(start + at) / view.getUint32(start + at + 4)) as [
    number,
    number,
  ];
  const x = Math.round(right + (whole.width - width) / 2);
  const y = Math.round(down + (whole.height - height) / 2);
  const fits = x >= 0 && y >= 0 && x + width <= whole.width && y + height <= whole.height;
  return width > 0 && height > 0 && fits ? { x, y, width, height, whole } : null;
}

/** Colors of a picture, in ffprobe's terms; absent when unknown. */
interface ColorFacts {
  color_primaries?: string;
  color_transfer?: string;
  color_space?: string;
  color_range?: string;
}

// Rec. ITU-T H.273, tables 2 to 4, under ffmpeg's names.
const PRIMARIES: Readonly<Record<number, string>> = {
  1: "bt709",
  5: "bt470bg",
  6: "smpte170m",
  9: "bt2020",
  12: "smpte432",
};
const TRANSFERS: Readonly<Record<number, string>> = {
  1: "bt709",
  6: "smpte170m",
  13: "iec61966-2-1",
  16: "smpte2084",
  18: "arib-std-b67",
};
const MATRICES: Readonly<Record<number, string>> = {
  0: "gbr",
  1: "bt709",
  5: "bt470bg",
  6: "smpte170m",
  9: "bt2020nc",
};

/** Reads the colors of a HEIF picture: from an ICC profile if there is one, as viewers do, otherwise from the code points. */
function readColor(view: DataView, properties: readonly Box[]): ColorFacts {
  const facts: ColorFacts = {};
  for (const { kind, start, end } of properties) {
    if (kind !== "colr") continue;
    const type = view.getUint32(start);
    if (type === NCLX) Object.assign(facts, readCodePoints(view, start + 4), facts);
    else if (type === PROF || type === RICC) {
      const primaries = profilePrimaries(bytesOf(view).subarray(start + 4, end));
      if (primaries) Object.assign(facts, { color_primaries: primaries, color_transfer: "iec61966-2-1" });
    }
  }
  return facts;
}

const [NCLX, PROF, RICC] = [0x6e636c78, 0x70726f66, 0x72494343];

function readCodePoints(view: DataView, at: number): ColorFacts {
  const [primaries, transfer, matrix] = [0, 2, 4].map((place) => view.getUint16(at + place)) as [
    number,
    number,
    number,
  ];
  const names = [
    ["color_primaries", PRIMARIES[primaries]],
    ["color_transfer", TRANSFERS[transfer]],
    ["color_space", MATRICES[matrix]],
    ["color_range", view.getUint8(at + 6) & 0x80 ? "pc" : "tv"],
  ];
  return Object.fromEntries(names.filter(([, name]) => name !== undefined));
}

/** The colors that the boxes of a HEIF picture state, and whether it has a gain map. */
export interface HeifProfile {
  /** The embedded ICC profile, which overrides the code points; null when there is none. */
  profile: Uint8Array | null;
  /** Primaries and transfer (Rec. ITU-T H.273). */
  codePoints: readonly [primaries: number, transfer: number] | null;
  hasGainMap: boolean;
}

const GAIN_MAP = /^urn:com:(apple:photo:2020|photo):aux:hdrgainmap/;

/** Reads the color profile of an AVIF or HEIC, whose bytes `upTo` returns from the start to an offset; null for any other file. */
export async function readHeifProfile(
  upTo: (end: number) => Promise<Uint8Array>,
): Promise<HeifProfile | null> {
  let bytes = await upTo(0);
  const meta = findBox(viewOf(bytes), { kind: "file", start: 0, end: bytes.length }, "meta");
  if (!meta) return null;
  bytes = await upTo(meta.start - 8 + viewOf(bytes).getUint32(meta.start - 8));
  const items = readItems(viewOf(bytes));
  if (!items) return null;
  const { view, properties, primary } = items;
  const own = primary === null ? [] : items.propertiesOf(primary);
  const colors: HeifProfile = {
    profile: null,
    codePoints: null,
    hasGainMap: holdsGainMap(items),
  };
  for (const { kind, start, end } of own.length > 0 ? own : properties) {
    if (kind !== "colr") continue;
    const type = view.getUint32(start);
    if (type === NCLX) colors.codePoints ??= [view.getUint16(start + 4), view.getUint16(start + 6)];
    else if (type === PROF || type === RICC) colors.profile ??= bytes.subarray(start + 4, end);
  }
  return colors;
}

// ISO/IEC 23008-12: an item of its own (tmap), or an auxiliary picture.
function holdsGainMap(items: HeifItems): boolean {
  const { view, properties } = items;
  const isAuxiliary = properties.some(
    ({ kind, start, end }) => kind === "auxC" && GAIN_MAP.test(latinText(view, start + 4, end - start - 4)),
  );
  return isAuxiliary || holdsItem(items, "tmap");
}

function holdsItem(items: HeifItems, type: string): boolean {
  return entriesOf(items).some((entry) => entry.type === type);
}

// ISO/IEC 14496-12, 8.11.6: a name follows the type, and for the type `mime` a media type follows the name; a zero ends each.
function entriesOf({ view, meta }: HeifItems): { id: number; type: string; mime: string }[] {
  const iinf = findBox(view, meta, "iinf");
  if (!iinf) return [];
  const entries = listBoxes(view, iinf.start + (view.getUint8(iinf.start) > 0 ? 8 : 6), iinf.end);
  return entries.flatMap(({ kind, start, end }) => {
    const version = view.getUint8(start);
    if (kind !== "infe" || version < 2) return [];
    const at = start + (version > 2 ? 10 : 8);
    const type = latinText(view, at, 4);
    const mime = type === "mime" ? latinText(view, at + 4, end - at - 4) : "";
    return [{ id: readId(view, start + 4, version > 2), type, mime }];
  });
}

/** Returns the items of an AVIF or HEIC and their positions in the file; empty for any other file. `read` returns bytes of the file. */
export async function readHeifItems(
  read: (start: number, end: number) => Promise<Uint8Array>,
): Promise<{ type: string; mime: string; start: number; end: number }[]> {
  const head = viewOf(await read(0, HEAD));
  const meta = findBox(head, { kind: "file", start: 0, end: head.byteLength }, "meta");
  if (!meta) return [];
  const end = meta.start - 8 + head.getUint32(meta.start - 8);
  const view = viewOf(await read(0, Math.min(end, MAX_INDEX)));
  const items = readItems(view);
  const iloc = items && findBox(view, items.meta, "iloc");
  if (!iloc) return [];
  const idat = findBox(view, items.meta, "idat");
  // Writers do not split metadata, so the first extent suffices.
  const extents = new Map((extentsOf(view, iloc) ?? []).toReversed().map((extent) => [extent.item, extent]));
  return entriesOf(items).flatMap(({ id, type, mime }) => {
    const own = extents.get(id);
    const origin = own?.method === 0 ? 0 : own?.method === 1 ? idat?.start : undefined;
    return own && origin !== undefined
      ? [{ type, mime, start: origin + own.start, end: origin + own.end }]
      : [];
  });
}

const HEAD = 262_144;

// X and Y of red and green under D50 in profiles of these primaries.
const COLORANTS = {
  smpte432: [0.515, 0.241, 0.292, 0.692],
  bt709: [0.436, 0.222, 0.385, 0.717],
  bt2020: [0.673, 0.279, 0.166, 0.675],
} as const;
const TOLERANCE = 0.004;

function profilePrimaries(profile: Uint8Array): keyof typeof COLORANTS | null {
  const [red, green] = readColorants(profile) ?? [];
  if (!red || !green) return null;
  const colorants = [red[0], red[1], green[0], green[1]];
  const names = Object.keys(COLORANTS) as (keyof typeof COLORANTS)[];
  const isNear = (name: keyof typeof COLORANTS) =>
    COLORANTS[name].every((value, index) => Math.abs(value - (colorants[index] ?? 9)) < TOLERANCE);
  return names.find(isNear) ?? null;
}

/**
 * Returns the end of a HEIF file's last item from its `iloc` box (ISO/IEC 14496-12, 8.11.3); a shorter file is truncated. Null
 * for a version of the box that pictures do not use. Throws a RangeError when the box extends beyond the view.
 */
function lastExtent(view: DataView, iloc: Box): number | null {
  const extents = extentsOf(view, iloc);
  return extents?.reduce((last, { method, end }) => (method === 0 ? Math.max(last, end) : last), 0) ?? null;
}

interface Extent {
  item: number;
  /** 0 counts from the start of the file, 1 from the start of `idat`; null if the extent lies in another file. */
  method: number | null;
  start: number;
  end: number;
}

// A crafted file may have any number of extents without bytes.
const MAX_EXTENTS = 65_536;

function extentsOf(view: DataView, iloc: Box): Extent[] | null {
  const version = view.getUint8(iloc.start);
  if (version > 2) return null;
  const [offsets, lengths] = nibbles(view.getUint8(iloc.start + 4));
  const [bases, indices] = nibbles(view.getUint8(iloc.start + 5));
  const wide = version === 2 ? 4 : 2;
  let at = iloc.start + 6;
  const take = (bytes: number): number => {
    let value = 0;
    for (let remaining = bytes; remaining > 0; remaining--) value = value * 256 + view.getUint8(at++);
    return value;
  };
  const all: Extent[] = [];
  for (let items = take(wide); items > 0 && at < iloc.end; items--) {
    const item = take(wide);
    const construction = version === 0 ? 0 : take(2) & 15;
    // A data reference other than 0 names another file.
    const method = take(2) === 0 ? construction : null;
    const base = take(bases);
    for (let extents = take(2); extents > 0 && at < iloc.end && all.length < MAX_EXTENTS; extents--) {
      if (version > 0) take(indices);
      const start = base + take(offsets);
      all.push({ item, method, start, end: start + take(lengths) });
    }
  }
  return all;
}

function nibbles(byte: number): [number, number] {
  return [byte >> 4, byte & 15];
}

type ReadBytes = (start: number, end: number) => Uint8Array;

/** Returns whether an AVIF or HEIC holds a sequence, by its index of packets; the brand `hevc` alone proves nothing. */
export function holdsSequence(read: ReadBytes, fileSize: number): boolean {
  return findIndex(read, fileSize) !== null;
}

/** Reads the number of pictures and the duration in seconds of an AVIF or HEIC sequence; null when its index does not state them. */
export function readSequence(read: ReadBytes, fileSize: number): { frames: number; seconds: number } | null {
  const index = findIndex(read, fileSize);
  if (!index || index.end > fileSize || index.end - index.start > MAX_INDEX) return null;
  return readMoov(viewOf(read(index.start, index.end)));
}

function findIndex(read: ReadBytes, fileSize: number): ByteRange | null {
  let at = 0;
  for (let count = 0; count < MAX_TOP_BOXES && at + 8 <= fileSize; count++) {
    const bytes = read(at, Math.min(fileSize, at + 16));
    const { kind, size, header } = readBoxHeader(viewOf(bytes), 0, fileSize - at);
    if (size < header) return null;
    if (kind === "moov") return { start: at + header, end: at + size };
    at += size;
  }
  return null;
}

function readMoov(view: DataView): { frames: number; seconds: number } | null {
  const moov = { kind: "moov", start: 0, end: view.byteLength };
  const pictures = listBoxes(view, moov.start, moov.end).find((trak) => {
    const hdlr = findBox(view, trak, "mdia", "hdlr");
    return hdlr !== null && latinText(view, hdlr.start + 8, 4) === "pict";
  });
  const track = pictures && readTracks(view, moov).tracks.get(readTrackId(view, pictures));
  if (!track?.consistent || track.packets === 0 || track.seconds <= 0) return null;
  return { frames: track.packets, seconds: track.seconds };
}
