import { ffprobeArgs } from "../../media/ffmpeg/ffprobe.ts";
import { holdsSequence, type PictureFacts, readHeif, readSequence } from "../../probe/heif.ts";
import { latinText, viewOf } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import { shownFor, uint24 } from "../images/animation.ts";
import type { SyncFile } from "../wasm/core-files.ts";
import type { WasmCore } from "../wasm/stock-core.ts";

/** ffprobe's report on a file, with the field names of its JSON writer. */
export interface FfprobeReport {
  format: Record<string, unknown>;
  streams: Record<string, unknown>[];
  /** The first frame of each stream, if decoded. */
  frames?: Record<string, unknown>[];
}

const INPUT = "/in/input";
const MAX_COUNTED_BYTES = 8_388_608;

/**
 * Probes a file with ffprobe, either with its first frame or only its header; `facts` come from the file's first bytes. Throws
 * `input_unsupported` when it is not media, and the errors of {@link WasmCore}.
 */
export function runProbe(
  core: WasmCore,
  file: SyncFile,
  facts: HeaderFacts | null,
  depth: "frame" | "header",
): FfprobeReport {
  // The stock core cannot decode these, and mistakes one tile of a HEIC for the whole picture.
  if (facts && /^(avif|heic)$/.test(facts.format_name)) {
    const read = (start: number, end: number) => file.read(start, end);
    const moves = facts.frames > 1 && holdsSequence(read, file.size);
    const sequence = moves ? readSequence(read, file.size) : null;
    const frames = moves ? Math.max(facts.frames, sequence?.frames ?? 0) : 1;
    const report = reportOf({ ...facts, frames }, file.size);
    return sequence ? withMotion(report, { ...sequence, frames }) : report;
  }
  if (facts?.codec_name === "webp" && facts.frames > 1) {
    const motion = readMotion((start, end) => file.read(start, end), file.size);
    return withMotion(reportOf({ ...facts, frames: Math.max(2, motion.frames) }, file.size), motion);
  }
  core.mount(INPUT, file);
  const report = probe(core, depth === "frame" ? ffprobeArgs(INPUT) : headerArgs());
  if (facts?.format_name === "apng" && report.streams[0]) {
    report.streams[0].nb_frames ??= String(facts.frames);
    // ffprobe (5.1) derives the duration of an APNG from its last frame.
    const motion = readPngMotion((start, end) => file.read(start, end), file.size);
    if (motion.frames > 0) return withMotion(report, motion);
  }
  return file.size <= MAX_COUNTED_BYTES ? withDuration(core, report) : report;
}

function withMotion(report: FfprobeReport, { frames, seconds }: MotionFacts): FfprobeReport {
  const duration = seconds.toFixed(6);
  const avg_frame_rate = `${frames * 1_000_000}/${Math.round(seconds * 1_000_000)}`;
  const streams = report.streams.map((stream) => ({ ...stream, duration, avg_frame_rate }));
  return { ...report, format: { ...report.format, duration }, streams };
}

function headerArgs(...more: string[]): string[] {
  return ["-v", "error", "-show_format", "-show_streams", "-show_chapters", ...more, INPUT];
}

function probe(core: WasmCore, args: readonly string[]): FfprobeReport {
  const { report, log } = core.ffprobe(args);
  const { format, streams } = (report ?? {}) as Partial<FfprobeReport>;
  if (report && format && streams && streams.length > 0) return { ...report, format, streams };
  throw errors.notMedia({ isCutOff: log.some((line) => line.includes("moov atom not found")) });
}

function withDuration(core: WasmCore, report: FfprobeReport): FfprobeReport {
  const stream = report.streams.find(({ codec_type }) => codec_type === "video") ?? report.streams[0];
  const isStated =
    report.format.duration !== undefined || String(report.format.format_name).endsWith("_pipe");
  if (isStated || !stream) return report;
  const counted = probe(core, headerArgs("-count_packets")).streams.find(
    ({ index }) => index === stream.index,
  );
  const frames = Number(counted?.nb_read_packets);
  const [over, under] = String(stream.avg_frame_rate ?? "")
    .split("/")
    .map(Number);
  if (!frames || !over || !under || stream.codec_type !== "video") return report;
  const duration = ((frames * under) / over).toFixed(6);
  const streams = report.streams.map((each) =>
    each === stream ? { ...each, duration, nb_frames: String(frames) } : each,
  );
  return { ...report, format: { ...report.format, duration }, streams };
}

/** Returns a report from the header alone. Throws `input_unsupported` when the file ends before its pictures do. */
export function reportOf(facts: HeaderFacts, size: number): FfprobeReport {
  const { format_name, codec_name, width, height, frames, rotation, size: minSize = 0, ...more } = facts;
  if (size < minSize) throw errors.inputDamaged();
  const stream = { index: 0, codec_type: "video", codec_name, width, height, nb_frames: String(frames) };
  const isobmff = /^(avif|heic)$/.test(format_name);
  const format = isobmff
    ? { format_name: "mov,mp4,m4a,3gp,3g2,mj2", tags: { major_brand: format_name } }
    : { format_name };
  return {
    format: { ...format, nb_streams: 1, size: String(size) },
    streams: [
      {
        ...stream,
        ...more,
        // ffprobe counts anticlockwise.
        ...(rotation !== undefined && { side_data_list: [{ rotation: -rotation }] }),
      },
    ],
  };
}

/** Facts from an image's first bytes, in ffprobe's terms. */
export type HeaderFacts = PictureFacts;

/** Parses the header of a JPEG, PNG, APNG, GIF, WebP, BMP, AVIF or HEIC; null for anything else. */
export function readHeaderFacts(head: Uint8Array): HeaderFacts | null {
  const view = viewOf(head);
  for (const read of [readJpeg, readPng, readGif, readWebp, readBmp, readHeif]) {
    try {
      const facts = read(view);
      if (facts && facts.width > 0 && facts.height > 0) return facts;
    } catch (thrown) {
      // A RangeError means that the header extends beyond `head`.
      if (!(thrown instanceof RangeError)) throw thrown;
    }
  }
  return null;
}

// ITU-T T.81, table B.1: the markers DHT, JPG and DAC lie among those of frame headers.
function readJpeg(view: DataView): HeaderFacts | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    if (marker < 0xc0 || marker > 0xcf || [0xc4, 0xc8, 0xcc].includes(marker)) continue;
    const size = { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    const pix_fmt = view.getUint8(at + 9) === 1 ? "gray" : "yuvj420p";
    return { format_name: "jpeg_pipe", codec_name: "mjpeg", ...size, frames: 1, pix_fmt };
  }
  return null;
}

const PNG_PIXELS: Readonly<Record<number, string>> = {
  0: "gray",
  2: "rgb24",
  3: "pal8",
  4: "ya8",
  6: "rgba",
};

function readPng(view: DataView): HeaderFacts | null {
  if (view.getUint32(0) !== 0x89504e47 || latinText(view, 12, 4) !== "IHDR") return null;
  const pix_fmt = PNG_PIXELS[view.getUint8(25)] ?? "rgba";
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  for (let at = 33; at + 12 <= view.byteLength; at += 12 + view.getUint32(at)) {
    const kind = latinText(view, at + 4, 4);
    if (kind === "acTL")
      return { format_name: "apng", codec_name: "apng", ...size, frames: view.getUint32(at + 8), pix_fmt };
    if (kind === "IDAT") break;
  }
  return { format_name: "png_pipe", codec_name: "png", ...size, frames: 1, pix_fmt };
}

function readGif(view: DataView): HeaderFacts | null {
  if (!/^GIF8[79]a$/.test(latinText(view, 0, 6))) return null;
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  // Counting frames would need the whole file, so the loop extension identifies an animation.
  const head = latinText(view, 0, Math.min(view.byteLength, 1024));
  return {
    format_name: "gif",
    codec_name: "gif",
    ...size,
    frames: head.includes("NETSCAPE2.0") ? 2 : 1,
    pix_fmt: "bgra",
  };
}

function readWebp(view: DataView): HeaderFacts | null {
  if (latinText(view, 0, 4) !== "RIFF" || latinText(view, 8, 4) !== "WEBP") return null;
  const common = { format_name: "webp_pipe", codec_name: "webp" };
  const kind = latinText(view, 12, 4);
  if (kind === "VP8 ") {
    const size = { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    return { ...common, ...size, frames: 1, pix_fmt: "yuv420p" };
  }
  if (kind === "VP8L") {
    const bits = view.getUint32(21, true);
    const size = { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    return { ...common, ...size, frames: 1, pix_fmt: "argb" };
  }
  if (kind !== "VP8X") return null;
  const flags = view.getUint8(20);
  return {
    ...common,
    width: uint24(view, 24) + 1,
    height: uint24(view, 27) + 1,
    frames: flags & 0x02 ? Math.max(2, countFrames(view)) : 1,
    pix_fmt: flags & 0x10 ? "yuva420p" : "yuv420p",
  };
}

function countFrames(view: DataView): number {
  let frames = 0;
  for (let at = 12; at + 8 <= view.byteLength; ) {
    if (latinText(view, at, 4) === "ANMF") frames++;
    const size = view.getUint32(at + 4, true);
    at += 8 + size + (size & 1);
  }
  return frames;
}

function readBmp(view: DataView): HeaderFacts | null {
  if (latinText(view, 0, 2) !== "BM" || view.getUint32(14, true) < 40) return null;
  const size = { width: view.getInt32(18, true), height: Math.abs(view.getInt32(22, true)) };
  return { format_name: "bmp_pipe", codec_name: "bmp", ...size, frames: 1 };
}

interface MotionFacts {
  frames: number;
  seconds: number;
}

const HEAD = 24;

/**
 * Counts the frames of an animated WebP (RFC 9649) by its chunk headers. Throws `input_unsupported` when the file is cut off, and the
 * errors of `read`.
 */
function readMotion(read: (start: number, end: number) => Uint8Array, size: number): MotionFacts {
  let [frames, milliseconds] = [0, 0];
  const end = 8 + viewOf(read(0, 12)).getUint32(4, true);
  if (end > size) throw errors.inputDamaged();
  for (let at = 12; at + 8 <= end; ) {
    const view = viewOf(read(at, Math.min(end, at + HEAD)));
    const length = view.getUint32(4, true);
    if (at + 8 + length > end) throw errors.inputDamaged();
    if (view.getUint32(0) === ANMF && view.byteLength === HEAD) {
      frames++;
      milliseconds += shownFor(uint24(view, 20));
    }
    at += 8 + length + (length & 1);
  }
  return { frames, seconds: milliseconds / 1000 };
}

const ANMF = 0x414e4d46;

const PNG_START = 8;
const FRAME_HEADER = 34;
const FCTL = 0x6663544c;

/** Counts the frames of an APNG (W3C PNG, third edition, 11.3.6) by its chunk headers, up to the end of the file. Throws the errors of `read`. */
function readPngMotion(read: (start: number, end: number) => Uint8Array, size: number): MotionFacts {
  let [frames, milliseconds] = [0, 0];
  for (let at = PNG_START; at + FRAME_HEADER <= size; ) {
    const view = viewOf(read(at, at + FRAME_HEADER));
    if (view.getUint32(4) === FCTL) {
      frames++;
      milliseconds += shownFor((view.getUint16(28) * 1000) / (view.getUint16(30) || 100));
    }
    at += 12 + view.getUint32(0);
  }
  return { frames, seconds: milliseconds / 1000 };
}
