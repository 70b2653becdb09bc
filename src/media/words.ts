import { MIB } from "../util/bytes.ts";
import { refusalClause } from "./features.ts";
import { type Decision, OTHER_WORK, type Refusal } from "./refusal.ts";

const CODECS: Readonly<Record<string, string>> = {
  h264: "H.264",
  h265: "H.265",
  vp9: "VP9",
  av1: "AV1",
  vp8: "VP8",
};
const BROWSER = "this browser";
const CORE = "the wasm core";
const BUILDS: Readonly<Record<string, string>> = {
  light: CORE,
  wasm: CORE,
  fast: "the fast core",
  "wasm-mt": "the threaded wasm core",
  native: "native ffmpeg",
};

const NAMES: Readonly<Record<string, string>> = {
  light: "the light encoder",
  wasm: "the wasm core",
  fast: "the fast core",
  "wasm-mt": "the threaded wasm core",
  webcodecs: "WebCodecs",
  canvas: "the browser's image encoder",
  avif: "the AVIF encoder",
  native: "native ffmpeg",
};

function nameEncoder(encoder: string): string {
  return NAMES[encoder] ?? encoder;
}

/** Describes in one clause why an encoder refuses a piece of work, such as "the wasm core has no AV1 encoder". */
export function describeRefusal(refusal: Refusal): string {
  const build = BUILDS[refusal.encoder] ?? BROWSER;
  switch (refusal.code) {
    case "other_work":
      return "it is made for other work";
    case "needs_encoding":
      return `the ${refusal.track === "video" ? "pictures need" : "sound needs"} encoding`;
    case "animated":
      return "it encodes stills only";
    case "input_format":
      return `${build} does not read ${refusal.format}`;
    case "input_codec":
      return `${build} cannot decode ${codecName(refusal.codec)}`;
    case "input_depth":
      return `${build} cannot decode ${codecName(refusal.codec)} of ${refusal.bit_depth} bits`;
    case "input_transparent":
      return "it encodes opaque pictures only";
    case "picture_times":
      return `it cannot time the pictures of ${codecName(refusal.codec)}`;
    case "unknown_duration":
      return "the length of the source is unknown";
    case "output_codec":
      return `${build} has no ${codecName(refusal.codec)} encoder`;
    case "output_format":
      return `${build} has no ${refusal.animated ? "animated " : ""}${refusal.format} encoder`;
    case "output_quality":
      return `${build} cannot write ${refusal.format} at that quality`;
    case "output_bytes":
      return "it does not keep within a number of bytes";
    case "output_repeats":
      return `${build} cannot limit how often ${refusal.format} repeats`;
    case "output_transparent":
      return `${build} writes no transparency in ${refusal.format}`;
    case "output_too_small":
      return `${build} needs at least ${refusal.min_side}x${refusal.min_side} pixels for ${codecName(refusal.codec)}`;
    case "output_size":
      return `${build}'s ${codecName(refusal.codec)} encoder fails at ${refusal.width}x${refusal.height}`;
    case "bit_depth":
      return `it encodes ${refusal.max_depth} bits only`;
    case "memory":
      return `it needs about ${megabytes(refusal.needed_bytes)} of memory, and ${megabytes(refusal.available_bytes)} is available`;
    case "input_memory":
      return `${megabytes(refusal.needed_bytes)} of the input would have to be in memory at once, and ${megabytes(refusal.available_bytes)} is available`;
    case "pixels":
      return `a picture of ${refusal.pixels} pixels is too large; the limit is ${refusal.max_pixels}`;
    case "time":
      return `it needs about ${Math.ceil(refusal.seconds)} s of computing, and ${refusal.max_seconds} s are allowed`;
    case "chunk_time":
      return `one part of it needs about ${Math.ceil(refusal.seconds)} s of computing, and ${refusal.max_seconds} s are allowed`;
    case "slower":
      return `it needs about ${wholeSeconds(refusal.seconds)} s, not ${wholeSeconds(refusal.than_seconds)} s`;
    case "not_configured":
      return NOT_CONFIGURED[refusal.encoder] ?? "it is not configured";
    case "not_loaded":
      return "it is not part of this build, or could not be loaded";
    case "not_isolated":
      return "the page is not cross-origin isolated";
    case "not_tried":
      return "it has not been tried on this machine";
    case "no_webcodecs":
      return "this browser has no WebCodecs";
    case "no_canvas":
      return "this browser has no canvas for workers";
    case "canvas_altered":
      return "this browser alters what is drawn";
    case "no_sound_encoder":
      return "the sound needs an encoder of its own";
    default:
      return refusalClause(refusal.code, build);
  }
}

const NOT_CONFIGURED: Readonly<Record<string, string>> = {
  native: "there is no native encoder: install ffmpeg or set NATIVE_ENCODER_URL",
  "wasm-mt": "the threaded core is not configured",
};

/** Describes why no encoder of a host can do a piece of work, with every encoder's reason. */
export function describeRefusals(refusals: readonly Refusal[]): string {
  const reasons = refusals.map((refusal) => `${refusal.encoder}: ${describeRefusal(refusal)}`);
  return `No encoder here can do this (${reasons.join("; ") || "there are no encoders"}).`;
}

/**
 * Describes in plain sentences why the intended encoders refused a piece of work, each reason once; empty when none was
 * intended.
 */
export function explainRefusals(refusals: readonly Refusal[]): string {
  const intended = refusals.filter(({ code }) => !OTHER_WORK.has(code));
  const clauses = new Set(intended.map(describeRefusal));
  return [...clauses].map(asSentence).join(" ");
}

function asSentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

function wholeSeconds(seconds: number): number {
  return Math.max(1, Math.round(seconds));
}

function codecName(codec: string): string {
  return CODECS[codec] ?? codec;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / MIB)} MB`;
}

/** Describes in one short sentence why an encoder does the work. */
export function describeDecision({
  encoder,
  reason,
  refusals,
}: Pick<Decision, "encoder" | "reason" | "refusals">): string {
  switch (reason.code) {
    case "copied":
      return "Copied without re-encoding.";
    case "spliced":
      return "Copied, except for the pictures around the cuts.";
    case "joined":
      return "The pictures are copied; only the sound is encoded.";
    case "faster": {
      const [own, other] = [reason.seconds, reason.than_seconds].map(wholeSeconds);
      if (own === other) return aboutSeconds(reason.seconds);
      const parts = reason.chunks > 1 ? `, in ${reason.chunks} parts` : "";
      return `Faster here: ${own} s, not ${other} s${parts}.`;
    }
    case "chunked":
      if (encoder !== "native") return `Encoded in ${reason.chunks} parts; a reload repeats at most one.`;
      return `Encoded in ${reason.chunks} parts, ${reason.at_once} at once.`;
    case "refused": {
      const refusal = refusals.find(({ code }) => !OTHER_WORK.has(code));
      return refusal ? `Not on ${nameEncoder(refusal.encoder)}: ${describeRefusal(refusal)}.` : "";
    }
    case "preferred":
      return reason.seconds === null
        ? "Fits the encoder's memory and time limits."
        : aboutSeconds(reason.seconds);
  }
}

function aboutSeconds(seconds: number): string {
  return `About ${wholeSeconds(seconds)} s of work.`;
}
