import { type ExtraInput, extraInputs, readerOf } from "../../media/extra-inputs.ts";
import type { Drawing } from "../../media/feature.ts";
import { type CopyJoin, canJoinByCopy } from "../../media/features/concat-plan.ts";
import { type Splice, type SpliceRefusal, spliceRequest } from "../../media/features/splice-plan.ts";
import { createPlan } from "../../media/index.ts";
import { mapTimedDrawings } from "../../media/option-groups.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { type Plan, rangeAt, type SourceRange } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { readCopyJoin } from "../../mux/join-mp4.ts";
import { readSplice } from "../../mux/splice.ts";
import type { ByteReader, WorkContext } from "../ports.ts";
import { decideEncode } from "./decide-encode.ts";
import { probeExtraInput, withParam } from "./extra-inputs.ts";
import { reportWaiting } from "./inputs.ts";
import { extraInputKey } from "./media-keys.ts";
import type { StepTools } from "./step-tools.ts";

interface ProbedPart {
  role: ExtraInput["role"];
  reader: ByteReader;
  source: Source;
}

/**
 * Rejects joined videos that cannot be planned, before any of them is copied. Returns the extra inputs as probed, or null if some
 * must be copied first, because their servers do not support ranges.
 */
export async function checkParts(
  tools: StepTools,
  { source, key, request }: { source: Source; key: string; request: EncodeRequest },
  context: WorkContext,
): Promise<readonly Source[] | null> {
  if (request.kind !== "video" || request.options.concat === undefined) return null;
  const { options } = request;
  return context.durably("check parts", async (signal) => {
    const inputs = extraInputs(request);
    // A page stores its files in the run's folder beforehand, and an earlier attempt may have copied parts there.
    const stored = inputs.map((_, at) => tools.storage.head(extraInputKey(context.run_id, at)));
    if ((await Promise.all(stored)).some((each) => each !== null)) return null;
    const probes = inputs.map((input) => probePart(tools, input, context, signal));
    const results = await Promise.allSettled(probes);
    const parts: ProbedPart[] = [];
    for (const result of results) {
      if (result.status === "rejected") throw result.reason;
      if (result.value === null) return null;
      parts.push(result.value);
    }
    const extra = parts.map((each) => each.source);
    const join = canJoinByCopy(source, options, extra);
    if (join === false) await decideEncode(tools, source, request, { extra });
    else if (options.mode === "copy") {
      const readers = (await tools.storage.head(key)) && [
        await tools.open(key),
        ...parts.flatMap(({ role, reader }) => (role === "concat" ? [reader] : [])),
      ];
      const copyJoin = join === true ? readers && (await readCopyJoin(readers, signal)) : join;
      createPlan(source, request.kind, options, { extra, copyJoin });
    }
    return extra;
  });
}

async function probePart(
  tools: StepTools,
  { role, url, param }: ExtraInput,
  context: WorkContext,
  signal: AbortSignal,
): Promise<ProbedPart | null> {
  if (readerOf(role) !== "ffmpeg") return null;
  try {
    const { file, reader, mime } = await tools.inputs.open(url, signal);
    try {
      if (reader === null) return null;
      const source = await probeExtraInput(tools, {
        role,
        reader,
        file: { url, ...(mime && { mime }) },
        signal,
        onWait: reportWaiting(context),
      });
      return { role, reader, source };
    } finally {
      await file.close();
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw withParam(param, thrown);
  }
}

interface Parts {
  /** Storage key of the input. */
  key: string;
  source: Source;
  request: EncodeRequest;
  extra: readonly Source[];
}

/**
 * Decides, once per run, whether joined videos can be copied. Reads their indexes only if nothing else rules out a copy; null when
 * they are encoded anyway.
 */
export async function matchParts(
  open: (key: string) => Promise<ByteReader>,
  { key, source, request, extra }: Parts,
  context: WorkContext,
): Promise<CopyJoin | null> {
  if (request.kind !== "video") return null;
  const { options } = request;
  const join = canJoinByCopy(source, options, extra);
  if (join !== true) return join || null;
  return context.durably("match", async (signal) => {
    const keys = [key, ...(options.concat ?? []).map((_, at) => extraInputKey(context.run_id, at))];
    return readCopyJoin(await Promise.all(keys.map(open)), signal);
  });
}

/** Finds, once per run, the packets that a request copies part by part; null for any other request. */
export async function findSplice(
  open: (key: string) => Promise<ByteReader>,
  { key, source, request }: Pick<Parts, "key" | "source" | "request">,
  context: WorkContext,
): Promise<Splice | SpliceRefusal | null> {
  const splice = spliceRequest(source, request);
  if (!splice || "fault" in splice) return splice;
  return context.durably("splice", async (signal) => readSplice(await open(key), source, splice, signal));
}

/** Returns the ranges of a trimmed source in the order of the output, with the seconds of source before each. */
export function rangesOf({ start, parts }: Plan, total: number): (SourceRange & { from: number })[] {
  let from = 0;
  return (parts ?? [{ start, end: start + total }]).map(({ start, end }) => {
    const range = { start, end, from };
    from += end - start;
    return range;
  });
}

/** Returns a request for the pictures alone: without sound, text tracks, covers and chapters. */
export function picturesOf({ kind, options }: EncodeRequest): EncodeRequest {
  const more = kind === "video" ? { mute: true, metadata: "strip" } : { mute: true };
  return { kind, options: { ...options, ...more } } as EncodeRequest;
}

/**
 * Returns the request for a part of an output, from `start` to `end` in seconds of the source, with the bitrate, overlays and fades that
 * the whole has there.
 */
export function requestOfPart(
  { kind, options }: EncodeRequest,
  plan: Plan,
  { start, end }: SourceRange,
): EncodeRequest {
  const { speed = 1, video } = plan;
  const range = rangeAt(plan, start);
  const offset = range.at + (start - range.start) / speed;
  const part: Record<string, unknown> = { ...options, start, end, parts: undefined };
  if (part.target_size !== undefined && video?.mode === "encode" && "bitrate" in video.rate) {
    delete part.target_size;
    part.bitrate = video.rate.bitrate;
  }
  const isLast = plan.parts === undefined || range === plan.parts.at(-1);
  const hasEnd = isLast && end >= (range.end ?? Number.POSITIVE_INFINITY);
  const length = (end - start) / speed;
  for (const name of ["fade_in", "picture_fade_in", "fade_out", "picture_fade_out"]) {
    const fades = name.endsWith("_in") ? offset === 0 : hasEnd;
    const seconds = part[name];
    if (!fades) delete part[name];
    else if (typeof seconds === "number") part[name] = Math.min(seconds, length);
  }
  const drawings = mapTimedDrawings(kind, options, (drawing) => shiftDrawing(drawing, offset));
  return { kind, options: { ...part, ...drawings } } as EncodeRequest;
}

// A drawing that must not appear starts too late, because removing an overlay would renumber the extra inputs.
const NEVER = 1e6;

function shiftDrawing(drawing: Drawing, offset: number): Drawing {
  const { start = 0, end } = drawing;
  if (end !== undefined && end <= offset) return { ...drawing, start: NEVER, end: undefined };
  const own = { ...drawing, start: Math.max(0, start - offset) };
  return end === undefined ? own : { ...own, end: end - offset };
}
