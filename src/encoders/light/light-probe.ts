import { ffprobeArgs } from "../../media/ffmpeg/ffprobe.ts";
import { holdsSequence, readSequence } from "../../probe/heif.ts";
import type { HeaderFacts } from "../../probe/picture-header.ts";
import { uint24, viewOf } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import { repairFile } from "../file-repair.ts";
import { shownFor } from "../images/animation.ts";
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
  const format = facts && /^a?png$/.test(facts.codec_name) ? "png" : "";
  core.mount(INPUT, repairFile(file, { format, passesProfile: false }));
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
