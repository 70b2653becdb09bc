import { hasTransparency, type Planes, readPlanes } from "../../encoders/images/png.ts";
import { similarityOf } from "../../encoders/images/similarity.ts";
import { roundTime } from "../../media/clock.ts";
import { type ErrorKind, MediaError } from "../../media/errors.ts";
import { DEFAULT_FPS } from "../../media/features/fps.ts";
import { type ImageFormat, LOSSLESS_FORMAT, type Quality } from "../../media/formats.ts";
import type { CropOption } from "../../media/option-shapes.ts";
import type { EncodeRequest } from "../../media/options.ts";
import {
  constantFps,
  type ImagePlan,
  PLAN_VERSION,
  type Plan,
  type Rendition,
  type SourceRange,
  sourceEnd,
  sourceSeconds,
  type VideoPlan,
} from "../../media/plan.ts";
import {
  AUTO_RANGE,
  bestRate,
  type ChosenRate,
  chooseRenditions,
  ladderLevels,
  type MeasuredRate,
  type MeasuredRendition,
  nextRate,
  type RateRange,
} from "../../media/quality-search.ts";
import { CRF, imageQuality } from "../../media/rates.ts";
import type { Source } from "../../media/source.ts";
import { GROUP_SECONDS } from "../../media/timeline.ts";
import { type ListedPicture, listPictures } from "../../mux/weigh.ts";
import { requireEncoded } from "../../storage/storage.ts";
import { inParallel } from "../../util/async.ts";
import type { Storage, WorkContext } from "../ports.ts";
import {
  type Decide,
  decidePart,
  type EncodedInput,
  type EncodeJob,
  encoderOf,
  type InputEncode,
} from "./decide-encode.ts";
import * as errors from "./errors.ts";
import { runFolder } from "./media-keys.ts";
import { picturesOf, rangesOf, requestOfPart } from "./parts.ts";
import type { StepTools } from "./step-tools.ts";

/** An encode whose quality is measured, and how the host encodes. */
export interface Measurement {
  tools: StepTools;
  encode: InputEncode;
  encodeInput(tools: StepTools, encode: InputEncode, context: WorkContext): Promise<EncodedInput>;
  createDecide(tools: StepTools): Decide;
}

/** An encode that differs from the one being measured. */
type Trial = Pick<InputEncode, "request" | "decide"> & Partial<InputEncode>;

/** The trial encodes of a measurement. */
export interface Trials {
  /** Encodes a file in a folder of its own and returns its storage key. */
  encode(trial: Trial): Promise<string>;
  /** Probes an encoded file. */
  probe(key: string): Promise<Source>;
  /** Draws a picture of the source or of an encoded file as a PNG, with the background of `image`. */
  draw(
    file: Pick<InputEncode, "key" | "source">,
    request: EncodeRequest,
    image: ImagePlan | null,
  ): Promise<Uint8Array>;
  /** Removes all files. */
  clear(): Promise<void>;
}

/** Creates the trials of a measurement, or of a named part of it. Their work ends when the signal aborts. */
export function createTrials(
  { tools, encode, encodeInput, createDecide }: Measurement,
  { name, run_id, progress }: { name: string } & Pick<WorkContext, "run_id" | "progress">,
  signal: AbortSignal,
): Trials {
  const own: StepTools = { ...tools, shared: null, turn: async () => {} };
  const folder = `${runFolder("work", run_id)}${name}/`;
  let count = 0;
  const context: WorkContext = {
    run_id,
    progress: async (percent) => progress(percent === null ? null : 0),
    reportChoice: async () => {},
    async durably(_, work) {
      signal.throwIfAborted();
      return work(signal);
    },
  };

  async function encodeTrial(trial: Trial): Promise<string> {
    const number = `${++count}`;
    const again = { ...encode, ...trial, id: `${encode.id}-${name}-${number}` };
    // Trials run side by side, so each needs its own files of subtitles and texts.
    const out = `${folder}${number}/`;
    const { encoded } = await encodeInput(own, { ...again, out, work: out, name: number }, context);
    return encoded.key;
  }

  return {
    encode: encodeTrial,
    async probe(key) {
      return tools.probe(await tools.open(key), { url: await tools.url(key) }, signal, () => {});
    },
    async draw({ key, source }, request, image) {
      const decideFreely = createDecide(own);
      const decide: Decide = async (...facts) => {
        const job = await decideFreely(...facts);
        const png = job.plan.image && image && { ...job.plan.image, alpha: image.alpha, matte: image.matte };
        return png ? { ...job, plan: { ...job.plan, image: png } } : job;
      };
      const reader = await tools.open(await encodeTrial({ key, source, request, decide }));
      return reader.read({ start: 0, end: reader.size });
    },
    clear: () => tools.storage.clear(folder),
  };
}

/** Tries rates until the search ends, and returns all of them with their scores. */
export async function tryRates(
  range: RateRange,
  scoreAt: (rate: number) => Promise<number | null>,
  first?: number,
): Promise<MeasuredRate[]> {
  const tried: MeasuredRate[] = [];
  for (let rate = first ?? nextRate(range, tried); rate !== null; rate = nextRate(range, tried))
    tried.push({ rate, score: await scoreAt(rate) });
  return tried;
}

/** Returns the score of two PNGs: the worse of those over black and over white if they are transparent; null if they are too small. */
export async function comparePictures(original: Uint8Array, output: Uint8Array): Promise<number | null> {
  const backgrounds = hasTransparency(original) || hasTransparency(output) ? [0, 255] : [0];
  const scores: number[] = [];
  for (const background of backgrounds) {
    const [one, other]: [Planes, Planes] = [
      await readPlanes(original, background),
      await readPlanes(output, background),
    ];
    if (one.width !== other.width || one.height !== other.height) throw errors.notMeasurable();
    const score = similarityOf(one, other);
    if (score === null) return null;
    scores.push(score);
  }
  return Math.min(...scores);
}

type VideoEncode = Extract<VideoPlan, { mode: "encode" }>;

/** The rate chosen for a sample, and the sample's time in the source in seconds. */
interface SampleRate extends MeasuredRate {
  at: number;
}

/**
 * Chooses the rate of a video: encodes samples at several rates on the task's encoder, and compares a picture of each with that of an
 * almost lossless encode of the same sample. A video that stays whole gets the rate of its hardest sample; in one that is cut, each
 * chunk gets the rate of its own samples. The search in a sample is one durable piece.
 */
export async function measureVideo(
  measurement: Measurement,
  job: EncodeJob,
  context: WorkContext,
): Promise<ChosenRate> {
  const { tools, encode } = measurement;
  const { plan, decision } = job;
  const encoder = encoderOf(tools.encoders, decision.encoder);
  const isCut = decision.chunk_seconds !== null;
  const spans = await context.durably(`samples ${PLAN_VERSION}`, async (signal) =>
    placeSamples(job, encode.source, await listPictures(await tools.open(encode.key), encode.source, signal)),
  );
  const range = videoRange(plan.video as VideoEncode);
  const samples: SampleRate[] = [];
  await inParallel(spans.entries(), isCut ? tools.inFlight(encoder) : 1, async ([index, span]) => {
    const first = samples.at(-1)?.rate;
    const own = isCut ? range : { ...range, lowest: first ?? range.lowest };
    const sample = await context.durably(`sample ${index} ${PLAN_VERSION}`, async (signal) => {
      const trials = createTrials(measurement, { ...context, name: `measure-${index}` }, signal);
      try {
        const scoreAt = await openSpan(trials, measurement, job, span);
        return bestRate(own, await tryRates(own, scoreAt, first)) ?? null;
      } catch (thrown) {
        if (thrown instanceof MediaError && SKIPPABLE.has(thrown.kind)) return null;
        throw thrown;
      } finally {
        await trials.clear();
      }
    });
    if (sample) samples.push({ ...sample, at: span.start });
  });
  return summarize(range, samples, isCut);
}

// A damaged span says nothing about the rest, and the encode of the whole reports the damage.
const SKIPPABLE: ReadonlySet<string> = new Set(["encode_failed", "encode_incomplete"] satisfies ErrorKind[]);

function videoRange({ codec }: VideoEncode): RateRange {
  return { lowest: CRF[codec][AUTO_RANGE.lowest], highest: CRF[codec][AUTO_RANGE.highest] };
}

function summarize(range: RateRange, samples: readonly SampleRate[], isCut: boolean): ChosenRate {
  const rate = samples.length === 0 ? range.highest : Math.min(...samples.map((sample) => sample.rate));
  const decisive = isCut ? samples : samples.filter((sample) => sample.rate === rate);
  const scores = decisive.flatMap(({ score }) => score ?? []);
  const rates = samples.toSorted((a, b) => a.at - b.at).map(({ at, rate: crf }) => ({ at, crf }));
  return {
    rate,
    score: scores.length === 0 ? null : Math.min(...scores),
    ...(isCut && rates.length > 0 && { rates }),
  };
}

// Almost lossless; x264 writes lossless pictures in a profile that browsers cannot decode.
const REFERENCE_CRF = 4;
// The position of the compared picture in a sample, as a share of its duration: after the keyframe, and before the encoder's look-ahead ends.
const PICTURE_SHARE = 0.6;

/** Encodes the reference of a span; returns a function that encodes the span at a rate and returns its score. */
async function openSpan(trials: Trials, { encode }: Measurement, job: EncodeJob, span: SourceRange) {
  const request = requestOfPart(picturesOf(encode.request), job.plan, span);
  const decide: Decide = async (source, own, hints) => decidePart(job, source, own, hints);

  async function drawAt(rate: number): Promise<Uint8Array> {
    const key = await trials.encode({ request, decide, measured: { rate, score: null } });
    const source = await trials.probe(key);
    const start = roundTime(PICTURE_SHARE * (source.duration ?? 0));
    const options = { format: LOSSLESS_FORMAT.image, start, ...middleOf(source) };
    const png = { kind: "image", options } as EncodeRequest;
    return trials.draw({ key, source }, png, null);
  }

  const original = await drawAt(REFERENCE_CRF);
  return async (rate: number): Promise<number | null> => {
    const score = await comparePictures(original, await drawAt(rate));
    return score === null ? null : Number(score.toFixed(5));
  };
}

// Two decoded pictures and their PNGs must fit into the memory of a Worker.
const MAX_PIXELS = 3840 * 2160;

/** Returns the crop to the middle of a picture that is too large to compare whole. */
function middleOf({ width = 0, height = 0 }: Source): { crop?: CropOption } {
  if (width * height <= MAX_PIXELS) return {};
  const shrink = Math.sqrt(MAX_PIXELS / (width * height));
  const size = { width: Math.floor(width * shrink), height: Math.floor(height * shrink) };
  const x = Math.floor((width - size.width) / 2);
  return { crop: { x, y: Math.floor((height - size.height) / 2), ...size } };
}

const SAMPLE_PICTURES = 20;
const MAX_SAMPLES = { whole: 12, cut: 64, stream: 6 } as const;

/** Returns the number of samples whose search takes at most a quarter of the encode; at least three in a short video, otherwise one. */
function countSamples({ plan, decision }: EncodeJob, total: number, length: number): number {
  const seconds = decision.seconds ?? total;
  const { width, height } = (plan.video as VideoEncode).geometry;
  const { encodes, jobs, pictures } = plan.renditions.length > 0 ? streamCost(plan) : VIDEO_COST;
  const drawing = pictures * PIXELS_COST * (width * height) * 1e-6;
  const each = (encodes * length * seconds) / total + jobs * JOB_COST + drawing;
  const affordable = Math.floor((BUDGET_SHARE * seconds) / each);
  const { whole, cut, stream } = MAX_SAMPLES;
  const max = plan.renditions.length > 0 ? stream : decision.chunk_seconds === null ? whole : cut;
  const min = total < SHORT_SECONDS ? 3 : 1;
  return Math.max(1, Math.min(max, Math.max(min, affordable), Math.floor(total / length)));
}

const BUDGET_SHARE = 0.25;
const SHORT_SECONDS = 60;
// Seconds that a job takes, and drawing a million pixels.
const JOB_COST = 0.1;
const PIXELS_COST = 0.3;
// The search in a sample of a video takes about this many encodes, jobs and pictures.
const VIDEO_COST = { encodes: 5, jobs: 8, pictures: 4 } as const;

function streamCost({ renditions }: Plan): { encodes: number; jobs: number; pictures: number } {
  const pictures = LADDER_TRIALS * renditions.length + 1;
  return { encodes: LADDER_TRIALS + 1, jobs: LADDER_TRIALS + 1 + pictures, pictures };
}

// The number of levels at which the default quality tries a rendition.
const LADDER_TRIALS = 2;

/** Chooses the samples of a video: the span with the most bytes in each of several equal shares of its playing time. */
export function placeSamples(
  job: EncodeJob,
  source: Source,
  pictures: readonly ListedPicture[],
): SourceRange[] {
  const { plan } = job;
  const fps = constantFps(plan) ?? source.fps ?? DEFAULT_FPS;
  const length = plan.renditions.length > 0 ? GROUP_SECONDS : (SAMPLE_PICTURES / fps) * (plan.speed ?? 1);
  const total = sourceSeconds(plan);
  if (total === null) return [{ start: plan.start, end: roundTime(plan.start + length) }];
  const count = countSamples(job, total, length);
  const ranges = rangesOf(plan, total);
  const bytes = bytesByWindow(pictures, ranges, length);
  return Array.from({ length: count }, (_, index) => {
    const share = { from: (index * total) / count, to: ((index + 1) * total) / count };
    const at = heaviestWindow(bytes, share, length);
    const range = ranges.findLast((each) => each.from <= at) ?? {
      start: plan.start,
      end: plan.start + total,
      from: 0,
    };
    const last = Math.max(range.start, range.end - length);
    const start = Math.min(last, range.start + Math.round((at - range.from) * fps) / fps);
    return { start: roundTime(start), end: roundTime(Math.min(range.end, start + length)) };
  });
}

/** Sums the bytes of the pictures in each window of `length` seconds, except those of keyframes, which say little about motion. */
function bytesByWindow(
  pictures: readonly ListedPicture[],
  ranges: ReturnType<typeof rangesOf>,
  length: number,
): ReadonlyMap<number, number> {
  const bytes = new Map<number, number>();
  for (const { at, key, bytes: size } of pictures) {
    if (key) continue;
    for (const { start, end, from } of ranges) {
      if (at < start || at >= end) continue;
      const window = Math.floor((from + at - start) / length);
      bytes.set(window, (bytes.get(window) ?? 0) + size);
    }
  }
  return bytes;
}

/** Returns the start of the window with the most bytes within a share of the playing time; the middle of a share without any. */
function heaviestWindow(
  bytes: ReadonlyMap<number, number>,
  { from, to }: { from: number; to: number },
  length: number,
): number {
  let heaviest = { at: Math.max(from, (from + to - length) / 2), bytes: 0 };
  for (let window = Math.ceil(from / length); (window + 1) * length <= to; window++) {
    const size = bytes.get(window) ?? 0;
    if (size > heaviest.bytes) heaviest = { at: window * length, bytes: size };
  }
  return heaviest.at;
}

/**
 * Chooses the rates of an encode whose quality or ladder is `auto`, with the task's encoder; null if the plan has no pictures, or if
 * nothing of a ladder can be measured.
 */
export async function measureQuality(
  measurement: Measurement,
  context: WorkContext,
): Promise<ChosenRate | null> {
  const { tools, encode } = measurement;
  const { source, request, extra, decide } = encode;
  const job = await decide(source, request, { extra }, context);
  const { video, image, renditions } = job.plan;
  if (!video && !image) return null;
  await tools.turn?.(encoderOf(tools.encoders, job.decision.encoder));
  if (renditions.length > 0) return measureStream(measurement, job, context);
  return video ? measureVideo(measurement, job, context) : measurePictures(measurement, job.plan, context);
}

/** A sample encoded in a rendition at a rate; the score is null if its pictures are too small. */
type RenditionTrial = Omit<MeasuredRendition, "score"> & Pick<MeasuredRate, "score">;

/**
 * Chooses the renditions of adaptive video: encodes samples, each a group of pictures, in all renditions at several rates, and compares
 * one picture of each encode, at the size of the best rendition, with that of an almost lossless encode. A sample is one durable piece.
 * Returns null, which stands for the fixed ladder, if no sample can be measured.
 */
async function measureStream(
  measurement: Measurement,
  job: EncodeJob,
  context: WorkContext,
): Promise<ChosenRate | null> {
  const { tools, encode } = measurement;
  const { plan, decision } = job;
  const { spans, bits } = await context.durably(`samples ${PLAN_VERSION}`, async (signal) => {
    const pictures = await listPictures(await tools.open(encode.key), encode.source, signal);
    const spans = placeSamples(job, encode.source, pictures);
    return { spans, bits: bitsIn(pictures, spans) };
  });
  const samples: RenditionTrial[][] = [];
  const atOnce =
    decision.chunk_seconds === null ? 1 : tools.inFlight(encoderOf(tools.encoders, decision.encoder));
  await inParallel(spans.entries(), atOnce, async ([index, span]) => {
    const sample = await context.durably(`sample ${index} ${PLAN_VERSION}`, async (signal) => {
      const trials = createTrials(measurement, { ...context, name: `measure-${index}` }, signal);
      try {
        return await tryRenditions(trials, measurement, job, span);
      } catch (thrown) {
        if (thrown instanceof MediaError && SKIPPABLE.has(thrown.kind)) return null;
        throw thrown;
      } finally {
        await trials.clear();
      }
    });
    if (sample) samples.push(sample);
  });
  const measured = combineSamples(samples);
  const codecOf = ({ codec }: Rendition) => codec ?? (plan.video as VideoEncode).codec;
  const rungs = [...new Set(plan.renditions.map(codecOf))].flatMap((codec) => {
    const names = plan.renditions.flatMap((each) => (codecOf(each) === codec ? each.name : []));
    const own = measured.filter(({ name }) => names.includes(name));
    const isNewer = NEWER[codec]?.includes(encode.source.codecs?.video ?? "");
    return chooseRenditions(own, isNewer ? null : bits);
  });
  const [best] = rungs;
  if (!best) return null;
  return {
    rate: best.crf,
    score: best.score,
    rungs: rungs.map(({ name, crf, score }) => ({ name, crf, score })),
  };
}

// Source codecs that take fewer bits for the same pictures, so that the bitrate of the source is no limit.
const NEWER: Partial<Record<VideoEncode["codec"], readonly string[]>> = {
  h264: ["h265", "vp9", "av1"],
  h265: ["av1"],
};

function bitsIn(pictures: readonly ListedPicture[], spans: readonly SourceRange[]): number | null {
  const bytes = spans.map(({ start, end }) =>
    pictures.reduce((sum, { at, bytes }) => sum + (at >= start && at < end ? bytes : 0), 0),
  );
  const seconds = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  const all = bytes.reduce((sum, each) => sum + each, 0);
  return bytes.every((each) => each > 0) ? (all * 8) / seconds : null;
}

/** Returns the renditions of all samples, each with its lowest score and its mean bits; those without a score are left out. */
function combineSamples(samples: readonly RenditionTrial[][]): MeasuredRendition[] {
  const [first = []] = samples;
  return first.flatMap(({ name, crf, pixels }) => {
    const same = samples.flatMap((sample) => sample.filter((each) => each.name === name && each.crf === crf));
    const scores = same.flatMap(({ score }) => score ?? []);
    if (scores.length === 0) return [];
    const bits = same.reduce((sum, each) => sum + each.bits, 0) / same.length;
    return [{ name, crf, pixels, bits, score: Math.min(...scores) }];
  });
}

/** Encodes a sample in all renditions of a stream at each level, and scores them. */
async function tryRenditions(
  trials: Trials,
  { tools, encode }: Measurement,
  job: EncodeJob,
  span: SourceRange,
): Promise<RenditionTrial[]> {
  const part = requestOfPart(picturesOf(encode.request), job.plan, span);
  const plain = { format: "hls", encryption: undefined, i_frames: undefined };
  const request = { ...part, options: { ...part.options, ...plain } } as EncodeRequest;
  const { renditions, video } = job.plan;
  const [best] = renditions;
  const size = best && sizeWithin(best.geometry);

  async function encodeAt(changed: readonly Rendition[]): Promise<string> {
    const decide: Decide = async (source, own, hints) => {
      const { plan, decision } = decidePart(job, source, own, hints);
      return { plan: { ...plan, renditions: [...changed] }, decision };
    };
    const key = await trials.encode({ request, decide, measured: { rate: 0, score: null } });
    return key.slice(0, key.lastIndexOf("/") + 1);
  }

  async function draw(folder: string, { name }: Rendition) {
    const key = `${folder}${name}.mp4`;
    const { size: bytes } = await tools.storage.write(
      key,
      joinSegment(tools.storage, `${folder}${name}/`),
      "video/mp4",
    );
    const source = await trials.probe(key);
    const start = roundTime(PICTURE_SHARE * (source.duration ?? 0));
    const png = {
      kind: "image",
      options: { format: LOSSLESS_FORMAT.image, start, ...size },
    } as EncodeRequest;
    const picture = await trials.draw({ key, source }, png, null);
    return { picture, bits: (bytes * 8) / (source.duration ?? GROUP_SECONDS) };
  }

  if (!best) return [];
  const lossless = { ...best, rate: { crf: REFERENCE_CRF, maxrate: NO_LIMIT } };
  const { picture: original } = await draw(await encodeAt([lossless]), lossless);
  const { quality } = encode.request.options as { quality?: Quality };
  const results: RenditionTrial[] = [];
  for (const level of ladderLevels(quality)) {
    const changed = renditions.map((each) => ({
      ...each,
      rate: { ...each.rate, crf: CRF[each.codec ?? (video as VideoEncode).codec][level] },
    }));
    const folder = await encodeAt(changed);
    for (const rendition of changed) {
      const { name, rate, geometry } = rendition;
      const { picture, bits } = await draw(folder, rendition);
      const score = await comparePictures(original, picture);
      const rounded = score === null ? null : Number(score.toFixed(5));
      results.push({ name, crf: rate.crf, pixels: geometry.width * geometry.height, bits, score: rounded });
    }
  }
  return results;
}

// ffmpeg (5.1) lists a rendition only if it has a maximum bitrate.
const NO_LIMIT = 500_000_000;

function sizeWithin({ width, height }: { width: number; height: number }) {
  const shrink = Math.min(1, Math.sqrt(MAX_PIXELS / (width * height)));
  return { width: Math.floor(width * shrink), height: Math.floor(height * shrink) };
}

/**
 * Streams the initialization segment of a rendition and its first segment, from the folder of an uncut stream: almost lossless ones in 4K
 * would fill the memory of a Worker.
 */
export function joinSegment(storage: Storage, folder: string): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const pipe = async () => {
    for (const name of ["init_0.mp4", "seg_00000.m4s"]) {
      const { body } = requireEncoded(await storage.read(folder + name));
      await body.pipeTo(writable, { preventClose: true });
    }
    await writable.close();
  };
  pipe().catch((thrown: unknown) => writable.abort(thrown).catch(() => {}));
  return readable;
}

/**
 * Chooses the rate of a picture, a series or an animation: encodes it, or stills of it, at several rates, and compares each with a PNG
 * of the source in the same size. The whole search is one durable piece.
 */
async function measurePictures(
  measurement: Measurement,
  plan: Plan,
  context: WorkContext,
): Promise<ChosenRate> {
  return context.durably(`measure ${PLAN_VERSION}`, async (signal) => {
    const trials = createTrials(measurement, { ...context, name: "measure" }, signal);
    const samples: SamplePicture[] = [];
    for (const request of requestsOf(measurement.encode.request, plan))
      samples.push({ request, original: await drawSource(trials, measurement, plan, request) });
    const range = pictureRange(plan.format as ImageFormat);
    const tried = await tryRates(range, async (rate) => {
      const scores: (number | null)[] = [];
      for (const sample of samples) scores.push(await scoreOf(trials, measurement, sample, rate));
      const measured = scores.flatMap((score) => score ?? []);
      return measured.length === 0 ? null : Number(Math.min(...measured).toFixed(5));
    });
    await trials.clear();
    return bestRate(range, tried) as ChosenRate;
  });
}

function pictureRange(format: ImageFormat): RateRange {
  return {
    lowest: imageQuality(format, AUTO_RANGE.lowest) ?? 0,
    highest: imageQuality(format, AUTO_RANGE.highest) ?? 0,
  };
}

/** A picture to measure. */
interface SamplePicture {
  request: EncodeRequest;
  /** The picture of the source, as a PNG. */
  original: Uint8Array;
}

function drawSource(
  trials: Trials,
  { encode }: Measurement,
  plan: Plan,
  request: EncodeRequest,
): Promise<Uint8Array> {
  const options = { ...request.options, format: LOSSLESS_FORMAT.image, quality: undefined };
  return trials.draw(encode, { kind: "image", options } as EncodeRequest, plan.image);
}

async function scoreOf(
  trials: Trials,
  { tools, encode, createDecide }: Measurement,
  { request, original }: SamplePicture,
  rate: number,
): Promise<number | null> {
  const isWhole = request === encode.request;
  const decideFreely = isWhole ? encode.decide : createDecide({ ...tools, shared: null });
  const decide: Decide = async (_, ...facts) => {
    const job = await decideFreely(encode.source, ...facts);
    return { ...job, plan: withRate(job.plan, { rate }) };
  };
  const fixed = { ...request, options: { ...request.options, quality: "high" } } as EncodeRequest;
  const key = await trials.encode({ request: fixed, decide });
  const png = { kind: "image", options: { format: LOSSLESS_FORMAT.image } } as EncodeRequest;
  return comparePictures(original, await trials.draw({ key, source: await trials.probe(key) }, png, null));
}

// Times of the measured frames as shares of the playing time, the same as those of an estimate's first excerpts.
const PLACES = [0.15, 0.5, 0.85] as const;

const STILL_OPTIONS = [
  "rotate",
  "flip",
  "crop",
  "fit",
  "position",
  "background",
  "denoise",
  "overlay",
] as const;

/** Returns the requests to measure: a single picture itself; for a series or an animation, stills in its format and size. */
function requestsOf(request: EncodeRequest, plan: Plan): EncodeRequest[] {
  const { image, format, start, still } = plan;
  const isOne = image !== null && !image.animated && !image.sheet;
  if (isOne || !image) return [request];
  const seconds = (sourceEnd(plan) ?? start) - start;
  const values: Record<string, unknown> = { ...request.options };
  const framing = Object.fromEntries(
    STILL_OPTIONS.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
  const { width, height } = image.geometry;
  return (still ? [0] : PLACES).map((place) => ({
    kind: "image",
    options: { ...framing, format, width, height, start: roundTime(start + place * seconds) },
  })) as EncodeRequest[];
}

/** Returns the plan with its measured rate or renditions. */
export function withRate(plan: Plan, { rate, rates, rungs = [] }: Omit<ChosenRate, "score">): Plan {
  const { image, video, renditions } = plan;
  if (image) return { ...plan, image: { ...image, quality: rate } };
  if (video?.mode !== "encode") return plan;
  if (renditions.length === 0)
    return { ...plan, video: { ...video, rate: { crf: rate }, ...(rates && { rates }) } };
  const choices = rungs.flatMap(({ name, crf }) => {
    const own = renditions.find((each) => each.name === name);
    return own ? [{ ...own, rate: { ...own.rate, crf } }] : [];
  });
  const [best] = choices;
  if (!best) return plan;
  return { ...plan, renditions: choices, video: { ...video, geometry: best.geometry, rate: best.rate } };
}
