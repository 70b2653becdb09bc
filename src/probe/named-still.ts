import { latinText, viewOf } from "../util/bytes.ts";
import { reportOf, type StillReport } from "./still.ts";

/**
 * Returns a report like ffprobe's on a TGA or PAM from its first bytes, because ffmpeg (5.1) recognizes these only by the file's name;
 * null for other files.
 */
export function readNamedStill(head: Uint8Array): StillReport | null {
  return readPam(head) ?? readTga(viewOf(head));
}

const PAM_PIXELS: Readonly<Record<string, string>> = {
  "1": "gray",
  "2": "ya8",
  "3": "rgb24",
  "4": "rgba",
  "1 deep": "gray16be",
  "2 deep": "ya16be",
  "3 deep": "rgb48be",
  "4 deep": "rgba64be",
};

// netpbm.sourceforge.net/doc/pam.html
function readPam(head: Uint8Array): StillReport | null {
  const text = String.fromCharCode(...head.subarray(0, 512));
  if (!/^P7\s/.test(text)) return null;
  const [header = ""] = text.split("ENDHDR");
  const read = (name: string) => Number(new RegExp(`^${name}\\s+(\\d+)`, "m").exec(header)?.[1]);
  const [width, height, depth, max] = ["WIDTH", "HEIGHT", "DEPTH", "MAXVAL"].map(read);
  const pix_fmt = PAM_PIXELS[`${depth}${(max ?? 0) > 255 ? " deep" : ""}`];
  return width && height && pix_fmt
    ? reportOf("pam_pipe", { codec_name: "pam", width, height, pix_fmt }, {})
    : null;
}

const TGA = { mapped: 1, rgb: 2, gray: 3, packed: 8 } as const;
const TGA_PIXELS: Readonly<Record<string, string>> = {
  "1 8": "pal8",
  "2 15": "rgb555le",
  "2 16": "rgb555le",
  "2 24": "bgr24",
  "2 32": "bgra",
  "3 8": "gray",
};

// Truevision TGA 2.0: there is no signature at the start, so all fields must be plausible. The decoder honors the origin.
function readTga(view: DataView): StillReport | null {
  if (view.byteLength < 18) return null;
  const [map, type] = [view.getUint8(1), view.getUint8(2)];
  const kind = type & ~TGA.packed;
  const [width, height] = [view.getUint16(12, true), view.getUint16(14, true)];
  const pix_fmt = TGA_PIXELS[`${kind} ${view.getUint8(16)}`];
  const mapBits = view.getUint8(7);
  const hasMap = map === 1 && view.getUint16(5, true) > 0 && [15, 16, 24, 32].includes(mapBits);
  const isPlausible = kind === TGA.mapped ? hasMap : map === 0 || hasMap;
  if (!pix_fmt || !isPlausible || (view.getUint8(17) & 0xc0) !== 0 || !width || !height) return null;
  return reportOf("targa_pipe", { codec_name: "targa", width, height, pix_fmt }, {});
}

/** Returns whether a text is the source code of an XBM, or the header of a FITS. */
export function isTextualStill(text: string): boolean {
  return /^\s*(\/\*[\s\S]*?\*\/\s*)?#define\s+\w*width\s+\d+/.test(text) || text.startsWith("SIMPLE  =");
}

/** Returns whether a file is a JPEG XL, as a codestream or in boxes. */
export function isJpegXl(head: Uint8Array): boolean {
  const view = viewOf(head);
  if (view.byteLength < 12) return false;
  return view.getUint16(0) === 0xff0a || (view.getUint32(0) === 12 && latinText(view, 4, 4) === "JXL ");
}
