import { ERROR_KINDS, type ErrorKind, MediaError } from "../../media/errors.ts";
import type { PacketCounts } from "../../media/ffmpeg/packet-count.ts";
import type { ByteRange } from "../../runs/ports.ts";
import * as errors from "../errors.ts";
import type { Page } from "../wasm/core-files.ts";
import { type FrameReader, frameHead } from "../wire-frame.ts";
import { type LightAnswer, type LightJob, wholeSize } from "./light-job.ts";
import type { FfprobeReport } from "./light-probe.ts";

/** The JSON of a request to the light encoder, followed by the bytes of its ranges. */
export interface LightRequest {
  job: LightJob;
  ranges: ByteRange[];
}

/**
 * The JSON of a frame in the response: any number of `waiting` (with the jobs ahead), one `running`, then the outcome. The bytes of the
 * files follow `done`.
 */
export type LightMessage =
  | { state: "waiting"; ahead: number }
  | { state: "running" }
  | { state: "need"; range: ByteRange }
  | {
      state: "done";
      report: FfprobeReport | null;
      files: { name: string; mime: string; size: number }[];
      tally: PacketCounts;
      stats: { heap: number; seconds: number };
    }
  | { state: "error"; kind: ErrorKind; message: string; retryable: boolean };

/** Response to `GET /health`. */
export interface LightHealth {
  status: "ok";
  /** Whether the encoder has the fast core. */
  fast: boolean;
}

/** Parses the start of a request; rejects with `request_invalid`, or `payload_too_large` beyond `maxBytes` of input. */
export async function readLightRequest(frames: FrameReader, maxBytes: number): Promise<LightRequest> {
  const request = parseRequest(await frames.json());
  const total = request.ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  if (total > maxBytes) throw errors.largeRequest({ maxBytes });
  return request;
}

/** Reads the bytes that follow the start of a request. */
export async function readPages(frames: FrameReader, ranges: readonly ByteRange[]): Promise<Page[]> {
  const pages: Page[] = [];
  for (const { start, end } of ranges) pages.push({ start, bytes: await frames.bytes(end - start) });
  return pages;
}

function parseRequest(json: unknown): LightRequest {
  const { job, ranges } = (json ?? {}) as Partial<LightRequest>;
  const size = job ? wholeSize(job) : -1;
  const isValidRange = ({ start, end }: ByteRange) =>
    Number.isSafeInteger(start) && Number.isSafeInteger(end) && 0 <= start && start <= end && end <= size;
  const isJob = job?.kind === "probe" || (job?.kind === "encode" && job.plan && job.chunk && job.source);
  if (
    !job ||
    !isJob ||
    !Number.isSafeInteger(size) ||
    size < 0 ||
    !Array.isArray(ranges) ||
    !ranges.every(isValidRange)
  ) {
    throw errors.notLightJob();
  }
  return { job, ranges };
}

/** Returns the frame of a job's outcome, in parts. */
export function answerParts(answer: LightAnswer): Uint8Array[] {
  if ("need" in answer) return [messageHead({ state: "need", range: answer.need })];
  const { report, tally, heap, seconds } = answer;
  const files = answer.files.map(({ name, mime, bytes }) => ({ name, mime, size: bytes.length }));
  const head = messageHead({ state: "done", report, files, tally, stats: { heap, seconds } });
  return [head, ...answer.files.map(({ bytes }) => bytes)];
}

export function messageHead(message: LightMessage): Uint8Array {
  return frameHead(message);
}

export function errorMessage({ kind, message, retryable }: MediaError): LightMessage {
  return { state: "error", kind, message, retryable };
}

export async function readLightMessage(frames: FrameReader): Promise<LightMessage | null> {
  return (await frames.json()) as LightMessage | null;
}

export function toError(message: Extract<LightMessage, { state: "error" }>): MediaError {
  const kind = ERROR_KINDS.includes(message.kind) ? message.kind : "internal_error";
  return new MediaError(kind, message.message, { retryable: message.retryable });
}
