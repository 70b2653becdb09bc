import {
  fromChromaticities,
  fromGray,
  fromPrimaries,
  isInRange,
  powerCurve,
  SRGB_CURVE,
} from "../media/color-conversion.ts";
import type { ColorProfile, ToneCurve } from "../media/source-facts.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes, inflate, latinText, MIB, viewOf } from "../util/bytes.ts";
import { readGifProfile } from "./gif.ts";
import { readHeifProfile } from "./heif.ts";
import { isSrgb, readIcc } from "./icc.ts";

/** The colors that a picture's header states. */
export interface PictureColors {
  /** The color profile; absent for sRGB. */
  color_profile?: ColorProfile;
  /** Whether the picture has a gain map. */
  gain_map?: true;
}

const HEAD = 262_144;
const MAX_BYTES = 8 * MIB;

/**
 * Reads the color profile of a JPEG, PNG, WebP, GIF, TIFF, AVIF or HEIC: an embedded ICC profile, else what the header states. `isGray`
 * says whether its pixels are gray. Rejects as the reader does.
 */
export async function readColors(
  reader: ByteReader,
  { isGray }: { isGray: boolean },
  signal: AbortSignal,
): Promise<PictureColors> {
  const head = await reader.read({ start: 0, end: Math.min(HEAD, reader.size) }, signal);
  let bytes = head;
  const file: HeaderBytes = {
    head,
    async upTo(end) {
      const until = Math.min(end, reader.size, MAX_BYTES);
      if (until <= bytes.length) return bytes;
      bytes = concatBytes([bytes, await reader.read({ start: bytes.length, end: until }, signal)]);
      return bytes;
    },
    read: (start, end) => reader.read({ start, end: Math.min(end, reader.size) }, signal),
  };
  try {
    const { icc, space = null, hasGainMap = false } = await findColors(file);
    const embedded = icc && (await icc());
    const candidate = embedded ? profileOf(embedded, isGray) : icc ? null : space;
    const profile = candidate && isUsable(candidate) ? candidate : icc ? { ignored: true as const } : null;
    return {
      ...(profile && !isSrgb(profile) && { color_profile: profile }),
      ...(hasGainMap && { gain_map: true }),
    };
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof RangeError) return {};
    throw thrown;
  }
}

interface HeaderBytes {
  head: Uint8Array;
  /** Returns the file up to an offset or beyond it, but at most its first 8 MiB. */
  upTo(end: number): Promise<Uint8Array>;
  read(start: number, end: number): Promise<Uint8Array>;
}

interface HeaderColors {
  /** Returns the embedded ICC profile; null for a damaged one. */
  icc?: (() => Promise<Uint8Array | null>) | null;
  /** The color space that the header states where no ICC profile is embedded. */
  space?: ColorProfile | null;
  hasGainMap?: boolean;
}

function isUsable({ to_srgb }: ColorProfile): boolean {
  return to_srgb === undefined || isInRange(to_srgb);
}

// Viewers ignore a gray profile in a color picture.
function profileOf(bytes: Uint8Array, isGray: boolean): ColorProfile | null {
  const profile = readIcc(bytes);
  return profile && (profile.space !== "GRAY" || isGray) ? profile : null;
}

async function findColors(file: HeaderBytes): Promise<HeaderColors> {
  const view = viewOf(file.head);
  if (view.byteLength < 16) return {};
  if (view.getUint16(0) === 0xffd8) return readJpeg(file);
  if (view.getUint32(0) === 0x89504e47) return readPng(file);
  const name = latinText(view, 0, 4);
  if (name === "RIFF" && latinText(view, 8, 4) === "WEBP") return readWebp(file);
  if (name === "GIF8") return readGif(view);
  if (name === "II*\0" || name === "MM\0*") return readTiff(file);
  return latinText(view, 4, 4) === "ftyp" ? readHeif(file) : {};
}

const MARKERS = { APP1: 0xffe1, APP2: 0xffe2, SOS: 0xffda } as const;
const PARTS = "ICC_PROFILE\0";
const ISO_GAIN_MAP = "urn:iso:std:iso:ts:21496:-1";
const GAIN_MAP = /ns\.adobe\.com\/hdr-gain-map\/|HDRGainMap/;

// ICC.1:2022, B.4: the profile spans one or more segments, each with its number and the total.
async function readJpeg(file: HeaderBytes): Promise<HeaderColors> {
  let bytes = file.head;
  let view = viewOf(bytes);
  const parts = new Map<number, Uint8Array>();
  let count = 0;
  let hasGainMap = false;
  for (let at = 2; ; ) {
    if (at + 4 > bytes.length) break;
    const marker = view.getUint16(at);
    if (marker === 0xffff) {
      at++;
      continue;
    }
    if (marker < 0xffc0 || marker === MARKERS.SOS) break;
    const end = at + 2 + view.getUint16(at + 2);
    if (end + 4 > bytes.length) {
      const longer = await file.upTo(end + HEAD);
      if (longer.length <= bytes.length) break;
      bytes = longer;
      view = viewOf(bytes);
    }
    if (end > bytes.length) break;
    const body = at + 4;
    if (marker === MARKERS.APP2 && startsWith(view, body, PARTS)) {
      count = Math.max(count, view.getUint8(body + 13));
      parts.set(view.getUint8(body + 12), bytes.slice(body + 14, end));
    } else if (marker === MARKERS.APP2 && startsWith(view, body, ISO_GAIN_MAP)) hasGainMap = true;
    else if (marker === MARKERS.APP1 && startsWith(view, body, "http://ns.adobe.com/x")) {
      hasGainMap ||= GAIN_MAP.test(latinText(view, body, Math.max(0, end - body)));
    }
    at = end;
  }
  if (count === 0) return { hasGainMap };
  const all = Array.from({ length: count }, (_, at) => parts.get(at + 1));
  const isWhole = all.every((part) => part !== undefined);
  return { hasGainMap, icc: async () => (isWhole ? concatBytes(all) : null) };
}

function startsWith(view: DataView, at: number, text: string): boolean {
  return at + text.length <= view.byteLength && latinText(view, at, text.length) === text;
}

// W3C PNG (third edition), 4.3: cICP precedes iCCP, then sRGB, then gAMA with cHRM.
async function readPng(file: HeaderBytes): Promise<HeaderColors> {
  const colors: HeaderColors = {};
  let bytes = file.head;
  let isStated = false;
  let [gamma, points]: [number, number[]] = [0, []];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const view = viewOf(bytes);
    const [length, name, body] = [view.getUint32(at), latinText(view, at + 4, 4), at + 8];
    if (name === "IDAT" || name === "fdAT") break;
    const end = body + length + 4;
    if (end + 12 > bytes.length) bytes = await file.upTo(end + HEAD);
    if (end > bytes.length) break;
    const own = viewOf(bytes);
    if (name === "cICP") {
      const [primaries, transfer] = [own.getUint8(body), own.getUint8(body + 1)];
      return { space: fromCodePoints(primaries, transfer) };
    }
    if (name === "sRGB") isStated = true;
    else if (name === "gAMA") gamma = own.getUint32(body) / 100_000;
    else if (name === "cHRM")
      points = Array.from({ length: 8 }, (_, index) => own.getUint32(body + 4 * index) / 100_000);
    else if (name === "iCCP") {
      const text = bytes.subarray(body, body + Math.min(80, length));
      const data = bytes.subarray(body + text.indexOf(0) + 2, body + length);
      colors.icc = () => inflate(data, MAX_BYTES);
    }
    at = end;
  }
  if (colors.icc || isStated || gamma <= 0) return colors;
  return { space: points.length > 0 ? fromChroma(points, gamma) : fromGamma(gamma) };
}

const SRGB_GAMMA = 1 / 2.2;
const GAMMA_TOLERANCE = 0.05;

// Chromium (156) and libpng treat a gamma near 1/2.2 as sRGB's, and ignore primaries without a gamma.
function fromGamma(gamma: number): ColorProfile | null {
  if (Math.abs(gamma / SRGB_GAMMA - 1) <= GAMMA_TOLERANCE) return null;
  return { to_srgb: fromGray(powerCurve(1 / gamma)) };
}

function fromChroma(points: readonly number[], gamma: number): ColorProfile | null {
  const [wx = 0, wy = 0, rx = 0, ry = 0, gx = 0, gy = 0, bx = 0, by = 0] = points;
  if ([wy, ry, gy, by].includes(0)) return null;
  const colors = { white: [wx, wy], red: [rx, ry], green: [gx, gy], blue: [bx, by] } as const;
  return { to_srgb: fromChromaticities(powerCurve(1 / gamma), colors) };
}

// Rec. ITU-T H.273, tables 2 and 3.
const CODED: Readonly<Record<number, string>> = {
  1: "bt709",
  4: "bt470m",
  9: "bt2020",
  11: "smpte431",
  12: "smpte432",
};
const CODED_CURVES: Readonly<Record<number, ToneCurve>> = {
  1: SRGB_CURVE,
  4: powerCurve(2.2),
  5: powerCurve(2.8),
  6: SRGB_CURVE,
  8: powerCurve(1),
  13: SRGB_CURVE,
  14: SRGB_CURVE,
  15: SRGB_CURVE,
};
const UNSPECIFIED = 2;

function fromCodePoints(primaries: number, transfer: number): ColorProfile | null {
  const curve = CODED_CURVES[transfer === UNSPECIFIED ? 13 : transfer];
  if (!curve) return { name: HDR[transfer] ?? `transfer ${transfer}` };
  const to_srgb = fromPrimaries(CODED[primaries], curve);
  return to_srgb && { ...(PRIMARY_NAMES[primaries] && { name: PRIMARY_NAMES[primaries] }), to_srgb };
}

const HDR: Readonly<Record<number, string>> = { 16: "PQ", 18: "HLG" };
const PRIMARY_NAMES: Readonly<Record<number, string>> = { 9: "BT.2020", 11: "DCI-P3", 12: "Display P3" };

// RFC 9649, 2.7.1.4: in an extended file, the profile is the first chunk after the header.
async function readWebp(file: HeaderBytes): Promise<HeaderColors> {
  const view = viewOf(file.head);
  if (latinText(view, 12, 4) !== "VP8X" || latinText(view, 30, 4) !== "ICCP") return {};
  const size = view.getUint32(34, true);
  return { icc: async () => (size > MAX_BYTES ? null : file.read(38, 38 + size)) };
}

function readGif(view: DataView): HeaderColors {
  const profile = readGifProfile(view);
  return profile ? { icc: async () => profile } : {};
}

const ICC_TAG = 34_675;
const DIRECTORY = 65_536;

// TIFF 6.0, section 2; ICC.1:2022, B.5.
async function readTiff(file: HeaderBytes): Promise<HeaderColors> {
  const head = viewOf(file.head);
  const little = head.getUint16(0) === 0x4949;
  const start = head.getUint32(4, little);
  const view = viewOf(await file.read(start, start + DIRECTORY));
  const count = view.getUint16(0, little);
  for (let index = 0; index < count; index++) {
    const at = 2 + 12 * index;
    if (view.getUint16(at, little) !== ICC_TAG) continue;
    const [size, offset] = [view.getUint32(at + 4, little), view.getUint32(at + 8, little)];
    return { icc: async () => (size > MAX_BYTES ? null : file.read(offset, offset + size)) };
  }
  return {};
}

async function readHeif(file: HeaderBytes): Promise<HeaderColors> {
  const colors = await readHeifProfile((end) => file.upTo(end));
  if (!colors) return {};
  const { profile, codePoints, hasGainMap } = colors;
  const space = codePoints && fromCodePoints(...codePoints);
  return { hasGainMap, space, icc: profile && (async () => profile) };
}
