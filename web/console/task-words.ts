import {
  ENCODE_KINDS,
  type EncodeKind,
  FORMATS,
  type Quality,
  type Step,
  type StepKind,
  type Task,
} from "../../src/index.ts";
import { decodeName } from "../result/file-names.ts";
import * as strings from "./strings.ts";

export const KIND_WORDS: Readonly<Record<EncodeKind, string>> = {
  video: strings.video,
  audio: strings.audio,
  image: strings.image,
  animation: strings.animation,
  storyboard: strings.storyboard,
  waveform: strings.waveform,
  adaptive_video: strings.stream,
};

export const STEP_WORDS: Readonly<Record<StepKind, string>> = {
  probe: strings.inspect,
  ingest: strings.fetch,
  video: strings.encode,
  audio: strings.encode,
  image: strings.encode,
  animation: strings.encode,
  storyboard: strings.encode,
  waveform: strings.encode,
  adaptive_video: strings.encode,
  upload: strings.storeResult,
};

/** Returns the words for an encoder; the API's name when there are none. */
export function encoderWords(encoder: string): string {
  return ENCODER_WORDS[encoder] ?? encoder;
}

const ENCODER_WORDS: Readonly<Record<string, string>> = {
  copy: strings.copiedEncoder,
  light: strings.lightEncoder,
  native: strings.nativeEncoder,
};

export const QUALITY_WORDS: Readonly<Record<Quality, string>> = {
  very_low: strings.veryLow,
  low: strings.low,
  medium: strings.medium,
  high: strings.high,
  very_high: strings.veryHigh,
};

/** Returns the formats of a kind, the default first. */
export function formatsOf(kind: EncodeKind): string[] {
  return Object.keys(FORMATS[kind]);
}

export function encodeOf({ steps }: Task): Step | undefined {
  return steps.find(({ kind }) => (ENCODE_KINDS as readonly string[]).includes(kind));
}

/** Returns the seconds that something has taken so far or in total; null before it started. */
export function secondsOf({
  started_at,
  finished_at,
}: Pick<Task, "started_at" | "finished_at">): number | null {
  return started_at === null || finished_at === null ? null : (finished_at - started_at) / 1000;
}

/** The place where something is stored, as far as it may be shown: without the path and query of a URL, which may grant access. */
export interface Place {
  host: string;
  /** The last segment of the path; empty when there is none. */
  name: string;
}

/** Returns the host and file name of a URL, or the bucket for `s3://`; a text that is not a URL has only a name. */
export function placeOf(url: string): Place {
  const parsed = URL.parse(url);
  if (!parsed) return { host: "", name: url.slice(0, 100) };
  const last = parsed.pathname.split("/").findLast((part) => part !== "") ?? "";
  return { host: parsed.protocol === "s3:" ? `s3://${parsed.host}` : parsed.host, name: decodeName(last) };
}
