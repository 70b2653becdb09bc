import { CONTAINERS, containerOf } from "../media/containers.ts";

/** A format, and whether the file is a still or an animation. */
export interface FormatName {
  format: string;
  image: boolean;
}

const IMAGE_CODECS: Readonly<Record<string, string>> = { mjpeg: "jpeg", jpegls: "jpegls", ljpeg: "jpeg" };

const WEBM_CODECS: ReadonlySet<string> = new Set(["vp8", "vp9", "av1", "opus", "vorbis"]);

const BRANDS: Readonly<Record<string, FormatName>> = {
  "qt  ": { format: "mov", image: false },
  avif: { format: "avif", image: true },
  avis: { format: "avif", image: true },
  heic: { format: "heic", image: true },
  mif1: { format: "heic", image: true },
};

// Demuxers that read lists of other files, or text drawn as pictures.
const REFUSED: ReadonlySet<string> = new Set([
  "tty",
  "bin",
  "xbin",
  "adf",
  "idf",
  "concat",
  "hls",
  "applehttp",
  "dash",
  "ffmetadata",
  "sdp",
  "lavfi",
]);

const RENAMED: Readonly<Record<string, string>> = {
  hevc: "h265",
  matroska: "matroska",
  mpegvideo: "mpegvideo",
};

/** Returns Framewright's name of a format from ffprobe's demuxer, the file's brand and its codecs; null when it is not media. */
export function nameFormat(
  reader: string,
  brand: string | undefined,
  codecs: readonly string[],
): FormatName | null {
  const names = reader.split(",");
  const [first = ""] = names;
  if (names.some((name) => REFUSED.has(name))) return null;
  if (names.includes("mp4")) return BRANDS[brand ?? ""] ?? { format: "mp4", image: false };
  if (names.includes("webm")) {
    const web = codecs.length > 0 && codecs.every((codec) => WEBM_CODECS.has(codec));
    return { format: web ? "webm" : "matroska", image: false };
  }
  if (first === "gif") return { format: "gif", image: true };
  if (first === "apng") return { format: "png", image: true };
  if (first.startsWith("image2") || first.endsWith("_pipe") || first === "ico") {
    const codec = codecs[0] ?? "";
    return {
      format: IMAGE_CODECS[codec] ?? (first.endsWith("_pipe") ? first.slice(0, -5) : codec),
      image: true,
    };
  }
  return { format: RENAMED[first] ?? first, image: false };
}

export function nameCodec(codec: string): string {
  return codec === "hevc" ? "h265" : codec;
}

/** Returns the MIME type of a format; undefined when none is registered or in use. */
export function mimeOf(format: string, kind: string): string | undefined {
  const [first, audio] = Object.hasOwn(CONTAINERS, format) ? containerOf({ format }).mime : [];
  return kind === "audio" ? (audio ?? first) : first;
}
