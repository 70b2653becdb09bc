import { MediaError } from "../../core/errors.ts";
import { ffprobeArgs } from "../../ffmpeg/parse-ffprobe.ts";
import { readSequence } from "../../probe/heif.ts";
import type { SyncFile } from "../core/paged-file.ts";
import type { WasmCore } from "../core/wasm-core.ts";
import type { HeaderFacts } from "./header-facts.ts";
import { type MotionFacts, readMotion } from "./webp-facts.ts";

/** ffprobe's report on a file, as its JSON writer names things. */
export interface FfprobeReport {
  format: Record<string, unknown>;
  streams: Record<string, unknown>[];
  /** The first frame of each stream, if decoded. */
  frames?: Record<string, unknown>[];
}

const INPUT = "/in/input";
// Up to this size, a file whose duration is unknown is read to its end to find it.
const COUNTED = 8_388_608;

/**
 * Probes a file with ffprobe, including its first frame or its header alone; `facts` come from the file's first bytes.
 * Throws `input_unsupported` when it is not media, and whatever {@link WasmCore} throws.
 */
export function runProbe(
  core: WasmCore,
  file: SyncFile,
  facts: HeaderFacts | null,
  depth: "frame" | "header",
): FfprobeReport {
  // The stock core decodes none of these, and takes one tile of a HEIC for the whole picture.
  if (facts && /^(avif|heic)$/.test(facts.format_name)) {
    const sequence = facts.frames > 1 ? readSequence((start, end) => file.read(start, end), file.size) : null;
    // An animation has several pictures, however many its index counts.
    const frames = Math.max(facts.frames, sequence?.frames ?? 0);
    const report = reportOf({ ...facts, frames }, file.size);
    return sequence ? withMotion(report, { ...sequence, frames }) : report;
  }
  if (facts?.codec_name === "webp" && facts.frames > 1) {
    const motion = readMotion((start, end) => file.read(start, end), file.size);
    return withMotion(reportOf({ ...facts, frames: Math.max(2, motion.frames) }, file.size), motion);
  }
  core.mount(INPUT, file);
  const report = probe(core, depth === "frame" ? ffprobeArgs(INPUT) : headerArgs());
  if (facts?.format_name === "apng" && report.streams[0])
    report.streams[0].nb_frames ??= String(facts.frames);
  return file.size <= COUNTED ? withDuration(core, report) : report;
}

function withMotion(report: FfprobeReport, { frames, seconds }: MotionFacts): FfprobeReport {
  const duration = seconds.toFixed(6);
  const avg_frame_rate = `${frames * 1000}/${Math.round(seconds * 1000)}`;
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
  throw new MediaError("input_unsupported", `The input is not media that can be read here${reason(log)}.`);
}

function reason(log: readonly string[]): string {
  if (log.some((line) => line.includes("moov atom not found"))) return ": it is damaged or cut off";
  return "";
}

// Raw streams do not state their duration; their packets show it.
function withDuration(core: WasmCore, report: FfprobeReport): FfprobeReport {
  const stream = report.streams.find(({ codec_type }) => codec_type === "video") ?? report.streams[0];
  const known = report.format.duration !== undefined || String(report.format.format_name).endsWith("_pipe");
  if (known || !stream) return report;
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

/** Returns the report that the header alone supports. Throws `input_unsupported` when the file ends before its pictures do. */
export function reportOf(facts: HeaderFacts, size: number): FfprobeReport {
  const { format_name, codec_name, width, height, frames, rotation, size: least = 0, ...more } = facts;
  if (size < least) throw new MediaError("input_unsupported", "The input is damaged or cut off.");
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
