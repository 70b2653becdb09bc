import { secondsOf, X264_AMPLE } from "../../encoders/wasm/wasm-costs.ts";
import { roundTime } from "../../media/clock.ts";
import { MediaError } from "../../media/errors.ts";
import { DEFAULT_FPS } from "../../media/features/fps.ts";
import { writeStoryboard } from "../../media/features/storyboard-graph.ts";
import { forecast } from "../../media/forecast.ts";
import type { EncodeRequest, OptionsOf } from "../../media/options.ts";
import {
  constantFps,
  encodedChunks,
  type Plan,
  type SourceRange,
  soundsOf,
  sourceSeconds,
} from "../../media/plan.ts";
import { bitsFor, CONTAINER_BYTES, sourceBits, streamBits } from "../../media/rates.ts";
import type { Source } from "../../media/source.ts";
import { cutPlan, GROUP_SECONDS, KEYFRAME_SECONDS } from "../../media/timeline.ts";
import { isCopy } from "../../media/video-plan.ts";
import { listPictures, weighFile } from "../../mux/weigh.ts";
import { MIB } from "../../util/bytes.ts";
import type { ByteReader } from "../ports.ts";
import type { OutputEstimate } from "../samples.ts";
import { rangesOf, requestOfPart } from "./parts.ts";
import type { Sample } from "./sample.ts";

/**
 * Estimates an output. Yields one exact estimate when the whole encodes quickly, and one narrow range when a copy or bitrates determine
 * the size; otherwise a wide range, then a narrower one after each excerpt that it encodes. Rejects with the errors of the encode.
 */
export async function* estimateOutput(sample: Sample): AsyncGenerator<OutputEstimate, void> {
  const { plan, exact } = sample;
  if (isQuick(sample) && exact) {
    const { seconds: searchSeconds } = (await sample.search()) ?? { seconds: 0 };
    const { size, seconds, score } = await sample.encode();
    yield { ...estimate(size, size, searchSeconds + seconds), score };
    return;
  }
  const bytes = forecastBytes(sample);
  if (bytes !== null) {
    const [less, more] = isCopy(plan) ? COPY_ERROR : RATE_ERROR;
    yield estimate(bytes * less, bytes * more, modelSeconds(sample));
    return;
  }
  yield firstGuess(sample);
  try {
    yield* isQuick(sample) ? estimateByOther(sample) : estimateByExcerpts(sample);
  } catch (thrown) {
    // The caller keeps the first estimate when no encoder here can encode an excerpt.
    if (exact || !(thrown instanceof MediaError) || thrown.kind !== "encoder_unavailable") throw thrown;
  }
}

async function* estimateByOther(sample: Sample): AsyncGenerator<OutputEstimate, void> {
  const { size, score } = await sample.encode();
  yield { ...estimate(size * (1 - OTHER_ERROR), size * (1 + OTHER_ERROR), modelSeconds(sample)), score };
}

async function* estimateByExcerpts(sample: Sample): AsyncGenerator<OutputEstimate, void> {
  const { plan, exact } = sample;
  const total = sourceSeconds(plan);
  if (total === null || plan.concat) return;
  const search = await sample.search();
  const score = search?.rate.score ?? null;
  const measure = await measureSource(sample, total);
  const method = methodOf(sample, measure);
  const excerpts: Excerpt[] = [];
  const spans: SourceRange[] = [];
  for (const place of PLACES) {
    const span = measure.span(place, method.length);
    const same = spans.findIndex(({ start }) => Math.abs(start - span.start) < method.length / 2);
    const again = excerpts[same];
    if (again) excerpts.push(again);
    else {
      const excerpt = await method.encode(span);
      const density = method.length === 0 ? 1 : measure.density(span);
      excerpts.push({ ...excerpt, lead: measure.lead(span), density });
    }
    spans.push(span);
    const { bytes, error } = sumUp(excerpts);
    const covered = Math.min(1, (new Set(excerpts).size * method.length) / total);
    const sampling = Math.max(method.error, error * Math.sqrt(1 - covered));
    const margin = Math.min(0.95, exact ? sampling : sampling + OTHER_ERROR);
    const encoding = scaledSeconds(sample, excerpts);
    const seconds = encoding === null ? null : encoding + (search?.seconds ?? 0);
    yield { ...estimate(bytes * (1 - margin), bytes * (1 + margin), seconds), score };
    if (
      spans.length >= method.min &&
      (sampling <= Math.max(method.error, ENOUGH_ERROR) || covered >= ENOUGH_SHARE)
    )
      return;
  }
}

function estimate(low: number, high: number, seconds: number | null): OutputEstimate {
  const rounded = seconds === null ? null : roundTime(seconds);
  return { bytes: { low: Math.floor(low), high: Math.ceil(high) }, seconds: rounded, score: null };
}

// Positions of the excerpts as shares of the trimmed source: the middle and both ends, then the gaps.
const PLACES = [0.5, 0.15, 0.85, 0.32, 0.68, 0.05, 0.95, 0.41, 0.59, 0.23, 0.77] as const;
// Encoders differ in file size at the same settings.
const OTHER_ERROR = 0.2;
const ENOUGH_ERROR = 0.1;
const ENOUGH_SHARE = 0.4;

const QUICK_SECONDS = 1.2;
const QUICK_COPY = 32 * MIB;

/** Returns whether encoding the whole takes no longer than a few excerpts. */
function isQuick({ plan, source, chunks, at_once }: Sample): boolean {
  if (plan.image && !plan.image.animated) return true;
  if (plan.waveform) return true;
  if (isCopy(plan)) return (source.filesize ?? Number.POSITIVE_INFINITY) <= QUICK_COPY;
  const work = secondsOf(plan, source, X264_AMPLE, "fast");
  if (!work) return false;
  return work.pictures / Math.min(chunks, at_once) + work.sound <= QUICK_SECONDS;
}

// Copies cut only between packets. Encoders miss a bitrate slightly, and undershoot it far when the content is simple.
const COPY_ERROR = [0.97, 1.03] as const;
const RATE_ERROR = [0.9, 1.05] as const;

function forecastBytes({ plan, source, request }: Sample): number | null {
  if (plan.concat) return null;
  const { kind, options } = request;
  return forecast(kind, options as OptionsOf<typeof kind>, source).bytes;
}

const GUESS = { low: 0.1, high: 3 } as const;

function firstGuess(sample: Sample): OutputEstimate {
  const { plan, source } = sample;
  const seconds = plan.duration ?? source.duration ?? 0;
  const bytes = ((pictureBits(plan, source) + soundBits(plan, source)) * seconds) / 8;
  const rest = CONTAINER_BYTES.video + (plan.frames ?? 0) * CONTAINER_BYTES.picture;
  return estimate(GUESS.low * bytes, GUESS.high * bytes + rest, modelSeconds(sample));
}

const STILL_BITS = 2;

function pictureBits(plan: Plan, source: Source): number {
  const fps = constantFps(plan) ?? source.fps ?? DEFAULT_FPS;
  if (plan.image) {
    const { width, height } = plan.image.geometry;
    const { tiles = 0 } = plan.image.sheet ?? {};
    const rate = plan.image.sheet ? tiles / Math.max(1, plan.duration ?? 1) : fps;
    return width * height * rate * STILL_BITS;
  }
  if (plan.video?.mode !== "encode") return 0;
  const outputs = plan.renditions.length > 0 ? plan.renditions : [plan.video];
  const { codec: planCodec } = plan.video;
  return outputs.reduce((sum, { geometry: { width, height }, rate, codec = planCodec }) => {
    if ("bitrate" in rate) return sum + rate.bitrate;
    const size = { width, height, fps };
    return sum + bitsFor(codec, rate.crf, { ...size, source_bits: sourceBits(source, size) });
  }, 0);
}

const TYPICAL_SOUND = 700_000;

function soundBits(plan: Plan, source: Source): number {
  const copied = streamBits(source, "audio") ?? 0;
  return soundsOf(plan).reduce(
    (sum, { audio }) => sum + (audio.mode === "encode" ? (audio.bitrate ?? TYPICAL_SOUND) : copied),
    0,
  );
}

type ModelFacts = Pick<Sample, "plan" | "source" | "chunks" | "at_once">;

function modelSeconds({ plan, source, chunks, at_once }: ModelFacts): number | null {
  const work = secondsOf(plan, source, X264_AMPLE, "fast");
  // Chunks are equally long, so a last round with fewer chunks takes as long as the others.
  return work && (work.pictures * Math.ceil(chunks / at_once)) / chunks + work.sound;
}

/** An encoded excerpt of the output. */
interface Excerpt {
  plan: Plan;
  /** Seconds that its encode took. */
  took: number;
  /** Seconds of source that were decoded before the excerpt; null when unknown. */
  lead: number | null;
  /** Bytes of the whole that do not depend on its content. */
  fixed: number;
  /** Bytes of a keyframe, and keyframes in the whole. */
  first: number;
  groups: number;
  /** All other bytes of the whole, if all of it were like this excerpt. */
  rest: number;
  /** The source's bytes per second in the excerpt, divided by those in the whole. */
  density: number;
}

type EncodedExcerpt = Omit<Excerpt, "density" | "lead">;

/** How to sample a kind of output. */
interface Method {
  /** Seconds of source per excerpt. */
  length: number;
  /** Minimum number of excerpts. */
  min: number;
  /** Relative error that remains when all excerpts agree. */
  error: number;
  encode(span: SourceRange): Promise<EncodedExcerpt>;
}

function methodOf(sample: Sample, { keyframes }: SourceMeasure): Method {
  const { plan } = sample;
  if (plan.image?.sheet) return { length: 0, min: 5, error: 0.1, encode: (span) => encodeTile(sample, span) };
  if (plan.image) return { length: 1, min: 3, error: 0.15, encode: (span) => encodeMoving(sample, span) };
  if (plan.kind === "adaptive_video" && plan.video)
    return { length: GROUP_SECONDS, min: 3, error: 0.08, encode: (span) => encodeGroup(sample, span) };
  if (!plan.video) return { length: 3, min: 3, error: 0.05, encode: (span) => encodeSound(sample, span) };
  const length = EXCERPT_SECONDS * (plan.speed ?? 1);
  return { length, min: 3, error: 0.08, encode: (span) => encodeVideo(sample, span, keyframes) };
}

// One second would overweight the bits that an encoder spends after a keyframe and saves before the end.
const EXCERPT_SECONDS = 2;

// Student's t at 80 to 90 % confidence, by the number of excerpts.
const DOUBT = [1, 0.6, 1.8, 1.4, 1.3, 1.2] as const;

/**
 * Extrapolates from the excerpts, assuming that output and source bytes have the same ratio in them as in the whole. Thus a change of
 * slides in an excerpt does not count as one every two seconds.
 */
function sumUp(excerpts: readonly Excerpt[]): { bytes: number; error: number } {
  const count = excerpts.length;
  const average = (value: (excerpt: Excerpt) => number) =>
    excerpts.reduce((sum, each) => sum + value(each), 0) / count;
  // The average is zero if the excerpts contain only keyframes.
  const density = average((each) => each.density) || 1;
  const first = average((each) => each.first);
  const rest = average((each) => each.rest) / density;
  const bytes = average(({ fixed, groups }) => fixed + groups * first) + rest;
  const doubt = DOUBT[count] ?? 1.1;
  if (count < 2 || bytes === 0) return { bytes, error: doubt };
  const deviation = (each: Excerpt) =>
    each.groups * (each.first - first) + (each.rest - rest * each.density) / density;
  const squares = average((each) => deviation(each) ** 2);
  return { bytes, error: (doubt * Math.sqrt(squares / (count - 1))) / bytes };
}

/** The distribution of a source's bytes over time. */
interface SourceMeasure {
  /** Times of the keyframes in seconds, ascending; empty when unknown. */
  keyframes: readonly number[];
  /** Returns a span of `length` seconds around a share of the source's work. */
  span(place: number, length: number): SourceRange;
  /** Returns the bytes per second of a span, divided by those of the whole. */
  density(span: SourceRange): number;
  /** Returns the seconds between a span and the keyframe before it; null when unknown. */
  lead(span: SourceRange): number | null;
}

/**
 * Measures the trimmed source by the bytes of its pictures, or by time without an index of them. Excerpts are placed half by time and
 * half by bytes, so that more of them fall where there is more to encode.
 */
async function measureSource(
  { plan, source, reader, signal }: Sample,
  total: number,
): Promise<SourceMeasure> {
  const ranges = rangesOf(plan, total);
  const pictures = plan.video || plan.image ? await listPictures(reader, source, signal) : [];
  const deltas = ranges.flatMap(({ start, end, from }) =>
    pictures.flatMap(({ at, key, bytes }) =>
      !key && at >= start && at < end ? [{ at: from + at - start, bytes }] : [],
    ),
  );
  const bytes = deltas.reduce((sum, picture) => sum + picture.bytes, 0);
  const shareUpTo = (time: number) =>
    bytes === 0
      ? time / total
      : deltas.reduce((sum, picture) => sum + (picture.at < time ? picture.bytes : 0), 0) / bytes;
  const fps = constantFps(plan) ?? source.fps ?? DEFAULT_FPS;
  return {
    keyframes: pictures.flatMap(({ at, key }) => (key ? [at] : [])).toSorted((one, other) => one - other),
    span(place, length) {
      let [low, high] = [0, total];
      for (let step = 0; step < SEARCH_STEPS; step++) {
        const middle = (low + high) / 2;
        if ((middle / total + shareUpTo(middle)) / 2 < place) low = middle;
        else high = middle;
      }
      const range = ranges.findLast(({ from }) => from <= low) ?? ranges[0];
      if (!range) return { start: plan.start, end: plan.start + length };
      const last = Math.max(0, range.end - range.start - length);
      const even = Math.min(Math.max(0, low - range.from - length / 2), last);
      const start = range.start + Math.round(even * fps) / fps;
      return { start: roundTime(start), end: roundTime(Math.min(start + length, range.end)) };
    },
    density({ start, end }) {
      const range = ranges.find((each) => start >= each.start - MICRO && end <= each.end + MICRO);
      const before = (range?.from ?? 0) - (range?.start ?? 0);
      return ((shareUpTo(end + before) - shareUpTo(start + before)) * total) / (end - start);
    },
    lead({ start }) {
      const key = pictures.reduce(
        (last, { at, key }) => (key && at <= start + MICRO ? Math.max(last, at) : last),
        -1,
      );
      return key < 0 ? null : start - key;
    },
  };
}

const SEARCH_STEPS = 20;
const MICRO = 1e-6;

async function encodeVideo(
  sample: Sample,
  span: SourceRange,
  keyframes: readonly number[],
): Promise<EncodedExcerpt> {
  const { plan, signal } = sample;
  const part = await sample.encode(requestOfPart(sample.request, plan, span));
  const weight = await weighFile(part.reader, plan.format, signal);
  const { pictures, settings, sound, sound_seconds, rest, index } = weight;
  const duration = plan.duration ?? 0;
  const fps = pictures.length / Math.max(0.001, part.plan.duration ?? 0);
  const frames = plan.frames ?? Math.round(duration * fps);
  const [start = 0, ...others] = pictures;
  const first = start - settings;
  const other = others.length > 0 ? others.reduce((sum, bytes) => sum + bytes, 0) / others.length : first;
  const groups = groupsOf(sample, keyframes, fps);
  return {
    plan: part.plan,
    took: part.seconds,
    fixed:
      (sound_seconds > 0 ? ((sound + index.sound) / sound_seconds) * duration : 0) +
      Math.max(0, rest - index.pictures - index.sound) +
      settings +
      (index.pictures / Math.max(1, pictures.length)) * frames,
    first,
    groups,
    rest: Math.max(0, frames - groups) * other,
  };
}

/** Returns the number of groups of pictures in the whole: one per five seconds of each chunk. */
function groupsOf(
  { plan, decision: { chunk_seconds } }: Sample,
  keyframes: readonly number[],
  fps: number,
): number {
  const { chunks } = chunk_seconds === null ? plan : cutPlan(plan, { chunk_seconds, keyframes });
  const last = plan.start + (sourceSeconds(plan) ?? 0);
  const group = Math.max(1, Math.round(fps * KEYFRAME_SECONDS));
  const frames = encodedChunks({ chunks })
    .filter(({ track }) => track !== "audio")
    .map(({ start, end }) => Math.round((((end ?? last) - start) / (plan.speed ?? 1)) * fps));
  return frames.reduce((sum, count) => sum + Math.max(1, Math.ceil(count / group)), 0);
}

const WHOLE = { first: 0, groups: 0, fixed: 0 } as const;

async function encodeSound(sample: Sample, span: SourceRange): Promise<EncodedExcerpt> {
  const { plan, signal } = sample;
  const part = await sample.encode(requestOfPart(sample.request, plan, span));
  const { sound, sound_packets, sound_seconds, rest } = await weighFile(part.reader, plan.format, signal);
  const share = sound_seconds > 0 ? (plan.duration ?? 0) / sound_seconds : 0;
  const perPacket = Math.min(rest, sound_packets * PACKET_BYTES);
  return {
    ...WHOLE,
    plan: part.plan,
    took: part.seconds,
    fixed: rest - perPacket,
    rest: (sound + perPacket) * share,
  };
}

// Ogg's overhead per packet.
const PACKET_BYTES = 2;

async function encodeGroup(sample: Sample, span: SourceRange): Promise<EncodedExcerpt> {
  const { plan, request } = sample;
  const part = await sample.encode(requestOfPart(request, plan, span));
  const fixed = STREAM_BYTES * (part.plan.renditions.length + soundsOf(plan).length);
  const seconds = part.plan.duration ?? GROUP_SECONDS;
  return {
    plan: part.plan,
    took: part.seconds,
    ...WHOLE,
    fixed,
    rest: (Math.max(0, part.size - fixed) / seconds) * (plan.duration ?? 0),
  };
}

/** Playlists and initialization segments per rendition. */
const STREAM_BYTES = 1800;

async function encodeMoving(sample: Sample, { start, end }: SourceRange): Promise<EncodedExcerpt> {
  const { plan, source, request } = sample;
  const fps = constantFps(plan) ?? source.fps ?? DEFAULT_FPS;
  const one = await sample.encode(requestOfPart(request, plan, { start, end: roundTime(start + 1 / fps) }));
  const [ones, first] = [one.plan.frames ?? 1, one.size];
  const part = await sample.encode(requestOfPart(request, plan, { start, end }));
  const count = part.plan.frames ?? Math.round((end - start) * fps);
  const other = count > ones ? Math.max(0, part.size - first) / (count - ones) : first;
  const frames = plan.frames ?? Math.round((plan.duration ?? 0) * fps);
  return {
    plan: part.plan,
    took: part.seconds,
    fixed: 0,
    first,
    groups: 1,
    rest: Math.max(0, frames - ones) * other,
  };
}

async function encodeTile(sample: Sample, { start }: SourceRange): Promise<EncodedExcerpt> {
  const { plan, request, signal } = sample;
  const { tiles = 1, sheets = 1 } = plan.image?.sheet ?? {};
  const part = await sample.encode(tileRequest(request, plan, start));
  const header = await headerBytes(part.reader, signal);
  return {
    ...WHOLE,
    plan: part.plan,
    took: part.seconds,
    fixed: header * sheets + indexBytes(plan),
    rest: Math.max(0, part.size - header) * tiles,
  };
}

/** Returns the bytes of the index files of a storyboard. */
function indexBytes(plan: Plan): number {
  const { kind, image } = plan;
  if (kind !== "storyboard" || !image?.sheet) return 0;
  const { vtt, json } = writeStoryboard(plan, image, image.sheet);
  return vtt.length + json.length;
}

const HEADER_READ = 4096;
const START_OF_SCAN = 0xda;
const USUAL_HEADER = 50;

/** Returns the size of a picture's header, which a sheet of tiles has only once. */
async function headerBytes(reader: ByteReader, signal: AbortSignal): Promise<number> {
  const bytes = await reader.read({ start: 0, end: HEADER_READ }, signal);
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return USUAL_HEADER;
  const at = bytes.findIndex((byte, index) => byte === 0xff && bytes[index + 1] === START_OF_SCAN);
  return at < 0 ? USUAL_HEADER : at;
}

function tileRequest({ kind, options }: EncodeRequest, plan: Plan, start: number): EncodeRequest {
  const { interval: _, count: __, columns: ___, rows: ____, end: _____, ...one } = Object(options);
  const { width, height } = plan.image?.geometry ?? {};
  const tile = kind === "storyboard" ? { format: plan.format, width, height, fit: "fill" } : {};
  return { kind: "image", options: { ...one, ...tile, start } } as EncodeRequest;
}

/** Scales the cost model's time for the whole by the measured time of the excerpts. */
function scaledSeconds(sample: Sample, excerpts: readonly Excerpt[]): number | null {
  const whole = modelSeconds(sample);
  if (whole === null) return null;
  const model = excerpts.map(({ plan, lead }) => {
    const own = { ...plan, start: lead ?? plan.start };
    return modelSeconds({ ...sample, plan: own, chunks: 1 }) ?? 0;
  });
  const took = excerpts.reduce((sum, each) => sum + each.took, 0);
  const expected = model.reduce((sum, each) => sum + each, 0);
  return expected > 0 ? (whole * took) / expected : whole;
}
