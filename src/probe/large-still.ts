import type { ByteReader } from "../runs/ports.ts";
import { latinText, readOr, viewOf } from "../util/bytes.ts";
import { isTiff, readTiffPicture } from "./exif.ts";
import { reportOf, type StillReport } from "./still.ts";

const HEAD = 4096;

/**
 * Returns a report like ffprobe's from the header of a still that is too large to decode, in a format that ffprobe describes only by
 * decoding: JPEG 2000, TIFF, DPX, PCX, PNM, QOI, SGI and Sun raster. Null for other files, and for headers that it cannot read. Rejects as
 * the reader does.
 */
export async function readLargeStill(reader: ByteReader, signal: AbortSignal): Promise<StillReport | null> {
  const head = await reader.read({ start: 0, end: HEAD }, signal);
  if (isTiff(head)) {
    const picture = await readTiffPicture(reader, signal);
    return picture && reportOf("tiff_pipe", { codec_name: "tiff", ...picture }, {});
  }
  const view = viewOf(head);
  const isBoxed = view.byteLength >= 12 && latinText(view, 4, 4) === "jP  ";
  const codestream = isBoxed ? await findCodestream(reader, signal) : { view, palette: false };
  const readers = [readDpx, readPcx, readPnm, readQoi, readSgi, readSunRaster];
  return readOr(null, () => {
    const jpeg2000 = codestream && readJpeg2000(codestream);
    if (jpeg2000 || isBoxed) return jpeg2000;
    for (const read of readers) {
      const report = read(view);
      if (report) return report;
    }
    return null;
  });
}

interface Codestream {
  view: DataView;
  palette: boolean;
}

const MAX_BOXES = 32;

// ISO/IEC 15444-1, annex I.
async function findCodestream(reader: ByteReader, signal: AbortSignal): Promise<Codestream | null> {
  let palette = false;
  for (let [at, boxes] = [0, 0]; at + 8 < reader.size && boxes < MAX_BOXES; boxes++) {
    const view = viewOf(await reader.read({ start: at, end: at + HEAD }, signal));
    if (view.byteLength < 16) return null;
    const [size, name] = [view.getUint32(0), latinText(view, 4, 4)];
    const header = size === 1 ? 16 : 8;
    if (name === "jp2c") return { view: new DataView(view.buffer, view.byteOffset + header), palette };
    if (name === "jp2h")
      palette = latinText(view, header, Math.min(size, view.byteLength) - header).includes("pclr");
    at += size === 1 ? Number(view.getBigUint64(8)) : Math.max(header, size);
  }
  return null;
}

const GRAY_AND_COLORS = ["gray", "ya8", "rgb24", "rgba"] as const;
const DEEP = ["gray16le", "ya16le", "rgb48le", "rgba64le"] as const;

// ISO/IEC 15444-1, A.5.1: the markers SOC and SIZ.
function readJpeg2000({ view, palette }: Codestream): StillReport | null {
  if (view.getUint32(0) !== 0xff4fff51) return null;
  const width = view.getUint32(8) - view.getUint32(16);
  const height = view.getUint32(12) - view.getUint32(20);
  const components = view.getUint16(40);
  const bits = (view.getUint8(42) & 0x7f) + 1;
  const deep = bits > 8 ? `${bits > 12 ? 16 : bits}le` : "";
  const [across, down] = components >= 3 ? [view.getUint8(46), view.getUint8(47)] : [1, 1];
  const halved = across === 2 ? `yuv${down === 2 ? 420 : 422}p${deep}` : null;
  const pix_fmt = palette ? "pal8" : (halved ?? (bits > 8 ? DEEP : GRAY_AND_COLORS)[components - 1]);
  return stillOf("j2k_pipe", "jpeg2000", width, height, pix_fmt);
}

// SMPTE ST 268-1.
function readDpx(view: DataView): StillReport | null {
  const magic = latinText(view, 0, 4);
  if (magic !== "SDPX" && magic !== "XPDS") return null;
  const little = magic === "XPDS";
  const [descriptor, bits] = [view.getUint8(800), view.getUint8(803)];
  const order = little ? "le" : "be";
  const names: Readonly<Record<string, string>> = {
    "6 8": "gray",
    "50 8": "rgb24",
    "51 8": "rgba",
    "50 10": "gbrp10le",
    "50 12": "gbrp12le",
    "50 16": `rgb48${order}`,
    "51 16": `rgba64${order}`,
  };
  const [width, height] = [view.getUint32(772, little), view.getUint32(776, little)];
  return stillOf("dpx_pipe", "dpx", width, height, names[`${descriptor} ${bits}`]);
}

// ZSoft PCX, versions 2 to 5.
function readPcx(view: DataView): StillReport | null {
  if (view.getUint8(0) !== 10 || view.getUint8(1) > 5 || view.getUint8(2) !== 1) return null;
  const width = view.getUint16(8, true) - view.getUint16(4, true) + 1;
  const height = view.getUint16(10, true) - view.getUint16(6, true) + 1;
  const isColor = view.getUint8(3) === 8 && view.getUint8(65) === 3;
  return stillOf("pcx_pipe", "pcx", width, height, isColor ? "rgb24" : "pal8");
}

// netpbm.sourceforge.net/doc: a comment may stand between the numbers.
function readPnm(view: DataView): StillReport | null {
  const text = latinText(view, 0, Math.min(512, view.byteLength)).replace(/#[^\n]*\n/g, " ");
  const [, kind, width, height, max] = /^P([1-6])\s+(\d+)\s+(\d+)\s+(\d+)?/.exec(text) ?? [];
  if (!kind) return null;
  const name = (["pbm", "pgm", "ppm"] as const)[(Number(kind) - 1) % 3];
  const deep = Number(max) > 255;
  const pixels = { pbm: "monow", pgm: deep ? "gray16le" : "gray", ppm: deep ? "rgb48le" : "rgb24" } as const;
  const report = name && stillOf(`${name}_pipe`, name, Number(width), Number(height), pixels[name]);
  if (report && name === "pbm") Object.assign(report.streams[0] ?? {}, { bits_per_raw_sample: "1" });
  return report ?? null;
}

// qoiformat.org.
function readQoi(view: DataView): StillReport | null {
  if (latinText(view, 0, 4) !== "qoif") return null;
  const pix_fmt = view.getUint8(12) === 4 ? "rgba" : "rgb24";
  return stillOf("qoi_pipe", "qoi", view.getUint32(4), view.getUint32(8), pix_fmt);
}

// The SGI image file format, 1.00.
function readSgi(view: DataView): StillReport | null {
  if (view.getUint16(0) !== 474) return null;
  const [bytes, channels] = [view.getUint8(3), view.getUint16(10)];
  const names: Readonly<Record<string, string>> = {
    "1 1": "gray",
    "1 3": "rgb24",
    "1 4": "rgba",
    "2 1": "gray16be",
    "2 3": "rgb48be",
    "2 4": "rgba64be",
  };
  return stillOf("sgi_pipe", "sgi", view.getUint16(6), view.getUint16(8), names[`${bytes} ${channels}`]);
}

// Sun's rasterfile(5).
function readSunRaster(view: DataView): StillReport | null {
  if (view.getUint32(0) !== 0x59a66a95) return null;
  const [depth, type, maps] = [view.getUint32(12), view.getUint32(20), view.getUint32(28)];
  const isRgb = type === 3;
  const names: Readonly<Record<number, string>> = {
    1: "monow",
    8: maps > 0 ? "pal8" : "gray",
    24: isRgb ? "rgb24" : "bgr24",
    32: isRgb ? "0rgb" : "0bgr",
  };
  return stillOf("sunrast_pipe", "sunrast", view.getUint32(4), view.getUint32(8), names[depth]);
}

function stillOf(
  format_name: string,
  codec_name: string,
  width: number,
  height: number,
  pix_fmt: string | undefined,
): StillReport | null {
  if (!(width > 0 && height > 0 && pix_fmt)) return null;
  return reportOf(format_name, { codec_name, width, height, pix_fmt }, {});
}
