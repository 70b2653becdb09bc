import type { ByteReader } from "../runs/ports.ts";
import { inflate, latinText, MIB, readOr, viewOf } from "../util/bytes.ts";
import { hasPhotoFacts, isTiff, listsPhotoFacts } from "./exif.ts";
import { blockBytes, GIF, headerBytes } from "./gif.ts";
import { readHeifItems } from "./heif.ts";

/** The metadata of a picture that describe more than its layout. */
export interface PictureMetadata {
  exif?: true;
  xmp?: true;
  /** IPTC-IIM data, such as a caption or a credit. */
  iptc?: true;
  /** Text in a form of the file format itself, such as a comment or a title. */
  comments?: true;
}

type Kind = keyof PictureMetadata;
type Collect = (kind: Kind, isHeld: boolean) => void;

const REACH = 262_144;

/** Reads which metadata a JPEG, PNG, WebP, GIF, TIFF, AVIF or HEIC holds. Rejects as the reader does. */
export async function readPictureMetadata(reader: ByteReader, signal: AbortSignal): Promise<PictureMetadata> {
  const kinds: PictureMetadata = {};
  const collect: Collect = (kind, isHeld) => {
    if (isHeld) kinds[kind] = true;
  };
  const file: PictureFile = {
    size: reader.size,
    read: (start, end) => reader.read({ start, end: Math.min(end, reader.size) }, signal),
  };
  collect("exif", await hasPhotoFacts(reader, signal));
  try {
    const head = await file.read(0, REACH);
    const start = latinText(viewOf(head), 0, Math.min(12, head.length));
    if (start.startsWith("\u00ff\u00d8")) await readJpeg(file, collect);
    else if (start.startsWith("\u0089PNG")) await readPng(file, head, collect);
    else if (/^RIFF.{4}WEBP/s.test(start)) await readWebp(file, head, collect);
    else if (start.startsWith("GIF8")) await readGif(file, head, collect);
    else if (isTiff(head)) await readTiff(file, collect);
    else if (start.slice(4, 8) === "ftyp") await readHeif(file, collect);
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  return kinds;
}

interface PictureFile {
  size: number;
  read(start: number, end: number): Promise<Uint8Array>;
}

const MARKERS = { APP1: 0xffe1, APP13: 0xffed, COM: 0xfffe, SOS: 0xffda, first: 0xffc0 } as const;
const XMP = /^http:\/\/ns\.adobe\.com\/(xap\/1\.0|xmp\/extension)\//;
const MAX_SEGMENTS = 1000;
// A crafted file may hold any number of texts.
const MAX_TEXTS = 64;

async function readJpeg(file: PictureFile, collect: Collect): Promise<void> {
  let window = await file.read(0, REACH);
  let origin = 0;
  for (let at = 2, count = 0; count < MAX_SEGMENTS; count++) {
    if (at - origin + 65_540 > window.length && origin + window.length < file.size) {
      window = await file.read(at, at + REACH);
      origin = at;
    }
    const view = viewOf(window);
    const own = at - origin;
    const marker = view.getUint16(own);
    if (marker === 0xffff) {
      at++;
      continue;
    }
    if (marker < MARKERS.first || marker === MARKERS.SOS) return;
    const end = own + 2 + view.getUint16(own + 2);
    const body = window.subarray(own + 4, end);
    if (marker === MARKERS.COM) collect("comments", isComment(textOf(body)));
    if (marker === MARKERS.APP1 && XMP.test(textOf(body.subarray(0, 64))))
      collect("xmp", exceedsLayout(textOf(body)));
    if (marker === MARKERS.APP13) collect("iptc", holdsIptcResource(body));
    at = origin + end;
  }
}

function textOf(bytes: Uint8Array): string {
  return latinText(viewOf(bytes), 0, bytes.length);
}

// Encoders sign their files with comments.
const SIGNATURE =
  /^(Lavc[\d.]*|CREATOR: .*|Created with (The )?GIMP.*|File written by Adobe Photoshop.*|LEAD Technologies.*|Intel\(R\) JPEG.*)$/s;

function isComment(text: string): boolean {
  const comment = text.replaceAll("\0", "").trim();
  return comment !== "" && !SIGNATURE.test(comment);
}

// Properties of XMP that state the layout, a gain map, or the structure of the XMP itself.
const STRUCTURE =
  /^(x|xml|xmlns|rdf|hdrgm|HDRGainMap|HDRToneMap|Container|Item|GContainer):|^tiff:(Orientation|Image(Width|Length)|BitsPerSample|SamplesPerPixel|PhotometricInterpretation|Compression|[XY]Resolution|ResolutionUnit)$|^exif:(Pixel[XY]Dimension|ColorSpace|ExifVersion)$/;

/** Returns whether XMP has properties beyond the layout of the picture. */
function exceedsLayout(xmp: string): boolean {
  const names = xmp.replaceAll("\0", "").matchAll(/[<\s]([A-Za-z][\w.-]*:[A-Za-z]\w*)[\s=>/]/g);
  for (const [, name = ""] of names) if (!STRUCTURE.test(name)) return true;
  return false;
}

const IPTC_RESOURCE = 0x0404;

/** Returns whether Photoshop's image resources, from a segment of a JPEG or a tag of a TIFF, contain IPTC data. */
function holdsIptcResource(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  return readOr(false, () => {
    let at = textOf(bytes.subarray(0, 14)) === "Photoshop 3.0\0" ? 14 : 0;
    while (latinText(view, at, 4) === "8BIM") {
      const id = view.getUint16(at + 4);
      // Names and data are padded to an even length.
      const size = at + 6 + (2 + view.getUint8(at + 6) - (view.getUint8(at + 6) % 2));
      const [start, length] = [size + 4, view.getUint32(size)];
      if (id === IPTC_RESOURCE) return holdsDataSets(bytes.subarray(start, start + length));
      at = start + length + (length % 2);
    }
    return false;
  });
}

// IPTC-IIM 4.2: record 1 and the version in record 2 describe only the encoding of the data.
function holdsDataSets(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  return readOr(false, () => {
    for (let at = 0; view.getUint8(at) === 0x1c; at += 5 + view.getUint16(at + 3)) {
      if (view.getUint8(at + 1) >= 2 && view.getUint8(at + 2) > 0) return true;
    }
    return false;
  });
}

async function readPng(file: PictureFile, head: Uint8Array, collect: Collect): Promise<void> {
  const view = viewOf(head);
  let texts = 0;
  for (let at = 8; at + 12 <= head.length && texts < MAX_TEXTS; ) {
    const [length, name] = [view.getUint32(at), latinText(view, at + 4, 4)];
    if (name === "IDAT") break;
    if (TEXTS.has(name)) {
      texts++;
      await readPngText(file, at, collect);
    }
    at += 12 + length;
  }
  // Texts may also follow the pixels.
  const origin = Math.max(0, file.size - REACH);
  const tail = origin === 0 ? head : await file.read(origin, file.size);
  const bytes = viewOf(tail);
  for (let at = 4; at + 8 <= tail.length && texts < 2 * MAX_TEXTS; at++) {
    if (tail[at + 3] !== 0x74 || !TEXTS.has(latinText(bytes, at, 4))) continue;
    const next = at + 8 + bytes.getUint32(at - 4);
    const isChunk = next + 8 <= tail.length && /^[A-Za-z]{4}$/.test(latinText(bytes, next + 4, 4));
    if (!isChunk) continue;
    texts++;
    await readPngText(file, origin + at - 4, collect);
  }
}

const TEXTS: ReadonlySet<string> = new Set(["tEXt", "zTXt", "iTXt"]);
const MAX_TEXT = MIB;
const PNG_XMP = /^(XML:com\.adobe\.xmp|Raw profile type xmp)$/;
const PROFILES: Readonly<Record<string, Kind>> = {
  "Raw profile type exif": "exif",
  "Raw profile type APP1": "exif",
  "Raw profile type iptc": "iptc",
  "Raw profile type 8bim": "iptc",
};
const TECHNICAL = /^(Software|date:(create|modify|timestamp)|Raw profile type icc|png:.*)$/i;

async function readPngText(file: PictureFile, start: number, collect: Collect): Promise<void> {
  const size = viewOf(await file.read(start, start + 4)).getUint32(0);
  const bytes = await file.read(start + 4, start + 8 + Math.min(size, MAX_TEXT));
  const kind = latinText(viewOf(bytes), 0, 4);
  const text = bytes.subarray(4);
  const keyword = textOf(text.subarray(0, Math.max(0, text.indexOf(0))));
  const profile = PROFILES[keyword];
  if (profile) collect(profile, true);
  else if (PNG_XMP.test(keyword)) {
    const isPlain = kind === "iTXt" && text[keyword.length + 1] === 0;
    const packed = isPlain ? null : await inflate(text.subarray(compressedStart(text, kind)), MAX_TEXT);
    collect("xmp", isPlain ? exceedsLayout(textOf(text)) : packed === null || exceedsLayout(textOf(packed)));
  } else if (!TECHNICAL.test(keyword)) {
    const value = kind === "tEXt" ? textOf(text.subarray(keyword.length + 1)) : keyword;
    collect("comments", isComment(value));
  }
}

// W3C PNG (third edition), 11.3.3: in iTXt, a flag, a method, a language and a translated keyword precede the text.
function compressedStart(text: Uint8Array, kind: string): number {
  const keyword = text.indexOf(0);
  if (kind === "zTXt") return keyword + 2;
  return text.indexOf(0, text.indexOf(0, keyword + 3) + 1) + 1;
}

const WEBP_XMP = 0x04;

async function readWebp(file: PictureFile, head: Uint8Array, collect: Collect): Promise<void> {
  const view = viewOf(head);
  if (latinText(view, 12, 4) !== "VP8X" || !(view.getUint8(20) & WEBP_XMP)) return;
  // The chunk of XMP follows the pictures.
  const tail = await file.read(Math.max(0, file.size - REACH), file.size);
  const text = textOf(tail);
  // XMP may contain the name of its chunk.
  const at = text.indexOf("XMP ");
  collect("xmp", at < 0 || exceedsLayout(text.slice(at + 8)));
}

const COMMENT = 0xfe;

async function readGif(file: PictureFile, head: Uint8Array, collect: Collect): Promise<void> {
  const view = viewOf(head);
  const isWhole = readOr(false, () => {
    let at = headerBytes(view);
    for (; view.getUint8(at) !== GIF.trailer; at += blockBytes(view, at)) {
      if (view.getUint8(at) === GIF.extension) readExtension(view, at, collect);
    }
    return true;
  });
  if (isWhole || head.length === file.size) return;
  // A reader cannot enter a GIF between two blocks, so it finds extensions near the end by their text.
  const tail = viewOf(await file.read(file.size - REACH, file.size));
  for (let at = 0, texts = 0; at + 8 < tail.byteLength && texts < MAX_TEXTS; at++) {
    if (tail.getUint8(at) !== GIF.extension || !startsText(tail, at)) continue;
    texts++;
    readOr(null, () => readExtension(tail, at, collect));
  }
}

function readExtension(view: DataView, at: number, collect: Collect): void {
  const text = () => latinText(view, at + 3, blockBytes(view, at) - 4);
  const label = view.getUint8(at + 1);
  if (label === COMMENT) collect("comments", isComment(text()));
  if (label === GIF.application && text().startsWith("XMP DataXMP")) collect("xmp", exceedsLayout(text()));
}

function startsText(view: DataView, at: number): boolean {
  const label = view.getUint8(at + 1);
  const text = latinText(view, at + 3, Math.min(view.getUint8(at + 2), view.byteLength - at - 3));
  return label === GIF.application ? text === "XMP DataXMP" : label === COMMENT && /^[\s!-~]{4,}$/.test(text);
}

const TIFF_TAGS = { xmp: 700, iptc: 33_723, photoshop: 34_377 } as const;
const TIFF_DIRECTORY = 65_536;
// TIFF 6.0, section 2: BYTE, ASCII, SHORT, LONG and UNDEFINED.
const TYPE_BYTES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 7: 1 };

async function readTiff(file: PictureFile, collect: Collect): Promise<void> {
  const head = viewOf(await file.read(0, 8));
  const little = head.getUint16(0) === 0x4949;
  const start = head.getUint32(4, little);
  const view = viewOf(await file.read(start, start + TIFF_DIRECTORY));
  const valueAt = async (tag: number) => {
    const count = view.getUint16(0, little);
    for (let at = 2; at + 12 <= Math.min(view.byteLength, 2 + 12 * count); at += 12) {
      if (view.getUint16(at, little) !== tag) continue;
      const size = (TYPE_BYTES[view.getUint16(at + 2, little)] ?? 0) * view.getUint32(at + 4, little);
      const from = view.getUint32(at + 8, little);
      return size > 4 && from < file.size ? file.read(from, from + Math.min(size, MAX_TEXT)) : null;
    }
    return null;
  };
  const [xmp, iptc, photoshop] = [
    await valueAt(TIFF_TAGS.xmp),
    await valueAt(TIFF_TAGS.iptc),
    await valueAt(TIFF_TAGS.photoshop),
  ];
  if (xmp) collect("xmp", exceedsLayout(textOf(xmp)));
  if (iptc) collect("iptc", holdsDataSets(iptc) || holdsDataSets(swapWords(iptc)));
  if (photoshop) collect("iptc", holdsIptcResource(photoshop));
}

// Some writers declare IPTC data as longs and swap their bytes.
function swapWords(bytes: Uint8Array): Uint8Array {
  return bytes.map((_, at) => bytes[at - (at % 4) + 3 - (at % 4)] ?? 0);
}

async function readHeif(file: PictureFile, collect: Collect): Promise<void> {
  const items = await readHeifItems(file.read);
  const texts = items.filter(({ type, mime }) => type === "Exif" || /rdf\+xml/.test(mime));
  for (const { type, start, end } of texts.slice(0, MAX_TEXTS)) {
    const bytes = await file.read(start, Math.min(end, start + MAX_TEXT));
    if (type === "Exif") collect("exif", hasExifFacts(bytes));
    else collect("xmp", exceedsLayout(textOf(bytes)));
  }
}

// ISO/IEC 23008-12, A.2.1: the offset of the TIFF header precedes the EXIF data.
function hasExifFacts(bytes: Uint8Array): boolean {
  return readOr(false, () => {
    const start = 4 + viewOf(bytes).getUint32(0);
    return listsPhotoFacts(viewOf(bytes.subarray(start)));
  });
}
