import { readAvcConfig } from "./avc-sps.ts";

/** What a stream's headers say about its stored pixels. */
export interface Pixels {
  /** ffmpeg's name, such as `yuv420p10le`. */
  pixel_format: string;
  bit_depth: number;
  /** Null when the headers do not say whether pictures are interlaced. */
  interlaced: boolean | null;
}

/**
 * The inputs of {@link readPixels}: mediabunny's codec, its parameter string (RFC 6381), and the decoder configuration
 * record.
 */
export interface CodecHeaders {
  codec: string | null;
  parameters: string | null;
  description: Uint8Array | null;
  full_range: boolean;
}

const CHROMA = ["gray", "yuv420p", "yuv422p", "yuv444p"] as const;

/** Derives the stored pixels from a stream's headers; null when only decoding a picture would show them. */
export function readPixels(headers: CodecHeaders): Pixels | null {
  const { codec, description, full_range } = headers;
  const parts = headers.parameters?.split(".") ?? [];
  switch (codec) {
    case "avc": {
      const avc = description && readAvcConfig(description);
      if (!avc) return null;
      // ffmpeg decodes 8-bit gray H.264 to 4:2:0.
      const chroma = avc.chroma === 0 && avc.bit_depth === 8 ? 1 : avc.chroma;
      return pixels(chroma, avc.bit_depth, full_range, avc.progressive ? false : null);
    }
    case "hevc":
      return description && readHevcConfig(description, full_range);
    case "vp8":
      return pixels(1, 8, false, false);
    case "vp9": {
      // vp09.<profile>.<level>.<depth>.<chroma>: 0 and 1 are 4:2:0, 2 is 4:2:2, 3 is 4:4:4.
      const chroma = [1, 1, 2, 3][Number(parts[4] ?? 1)] ?? 1;
      return parts.length < 4 ? null : pixels(chroma, Number(parts[3]), false, false);
    }
    case "av1": {
      // av01.<profile>.<level><tier>.<depth>.<monochrome>.<chroma>: 110 to 112 are 4:2:0, 100 4:2:2, 000 4:4:4.
      const [, profile, , depth, mono, subsampling] = parts;
      const byProfile = ["11", "00", "10"][Number(profile)];
      const chroma = { "11": 1, "10": 2, "00": 3 }[(subsampling ?? byProfile ?? "11").slice(0, 2)];
      if (depth === undefined || chroma === undefined) return null;
      return pixels(mono === "1" ? 0 : chroma, Number(depth), false, false);
    }
    default:
      return null;
  }
}

// HEVCDecoderConfigurationRecord (ISO/IEC 14496-15, 8.3.3.1): the profile's flags in byte 6, chroma in 16, depth in 17.
function readHevcConfig(record: Uint8Array, full_range: boolean): Pixels | null {
  const [flags = 0, chroma = 0, depth = 0] = [record[6], record[16], record[17]];
  if (record[0] !== 1 || record.length < 23) return null;
  const interlaced = (flags & 0x40) !== 0 && (flags & 0x80) === 0;
  return pixels(chroma & 3, 8 + (depth & 7), full_range, interlaced);
}

function pixels(
  chroma: number,
  bit_depth: number,
  full_range: boolean,
  interlaced: boolean | null,
): Pixels | null {
  const plain = CHROMA[chroma];
  if (!plain || ![8, 9, 10, 12, 14].includes(bit_depth)) return null;
  const deep = bit_depth === 8 ? plain : `${plain}${bit_depth}le`;
  // ffmpeg has separate names for full-range 8-bit pictures of these codecs.
  const jpeg = full_range && bit_depth === 8 && plain !== "gray";
  return { pixel_format: jpeg ? plain.replace("yuv", "yuvj") : deep, bit_depth, interlaced };
}
