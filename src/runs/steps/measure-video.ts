import {
  AUTO_RANGE,
  bestRate,
  type ChosenRate,
  type MeasuredRate,
  type RateRange,
} from "../../media/auto-quality.ts";
import { roundTime } from "../../media/clock.ts";
import { type ErrorKind, MediaError } from "../../media/errors.ts";
import { DEFAULT_FPS } from "../../media/features/fps.ts";
import type { CropOption } from "../../media/option-shapes.ts";
import type { EncodeRequest } from "../../media/options.ts";
import {
  constantFps,
  PLAN_VERSION,
  type SourceRange,
  sourceSeconds,
  type VideoPlan,
} from "../../media/plan.ts";
import { CRF } from "../../media/rates.ts";
import type { Source } from "../../media/source.ts";
import { type ListedPicture, listPictures } from "../../mux/weigh.ts";
import { inParallel } from "../../util/async.ts";
import type { WorkContext } from "../ports.ts";
import { type Decide, decidePart, type EncodeJob, encoderOf } from "./decide-encode.ts";
import { picturesOf, rangesOf, requestOfPart } from "./part-request.ts";
import { comparePictures, createTrials, type Measurement, type Trials, tryRates } from "./quality-trials.ts";

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
  const range = rangeOf(plan.video as VideoEncode);
  const samples: SampleRate[] = [];
  await inParallel(spans.entries(), isCut ? tools.inFlight(encoder) : 1, async ([index, span]) => {
    const first = isCut ? undefined : samples.at(-1)?.rate;
    const own = { ...range, least: first ?? range.least };
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

function rangeOf({ codec }: VideoEncode): RateRange {
  return { least: CRF[codec][AUTO_RANGE.least], most: CRF[codec][AUTO_RANGE.most] };
}

function summarize(range: RateRange, samples: readonly SampleRate[], isCut: boolean): ChosenRate {
  const rate = samples.length === 0 ? range.most : Math.min(...samples.map((sample) => sample.rate));
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
    const options = { format: "png", start, ...middleOf(source) };
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
const MAX_SAMPLES = { whole: 12, cut: 64 } as const;

/** Returns the number of samples whose search takes at most a quarter of the encode; at least three in a short video, otherwise one. */
function countSamples({ plan, decision }: EncodeJob, total: number, length: number): number {
  const seconds = decision.seconds ?? total;
  const { width, height } = (plan.video as VideoEncode).geometry;
  const pictures = COST.pictures * COST.million_pixels * (width * height) * 1e-6;
  const each = (COST.encodes * length * seconds) / total + COST.jobs * COST.job + pictures;
  const affordable = Math.floor((BUDGET_SHARE * seconds) / each);
  const most = decision.chunk_seconds === null ? MAX_SAMPLES.whole : MAX_SAMPLES.cut;
  const least = total < SHORT_SECONDS ? 3 : 1;
  return Math.max(1, Math.min(most, Math.max(least, affordable), Math.floor(total / length)));
}

const BUDGET_SHARE = 0.25;
const SHORT_SECONDS = 60;
// The search in a sample takes about this many encodes, jobs and pictures; `job` and `million_pixels` are seconds of a job, and of a
// million pixels of a picture.
const COST = { encodes: 5, jobs: 8, job: 0.1, pictures: 4, million_pixels: 0.3 } as const;

/** Chooses the samples of a video: the span with the most bytes in each of several equal shares of its playing time. */
export function placeSamples(
  job: EncodeJob,
  source: Source,
  pictures: readonly ListedPicture[],
): SourceRange[] {
  const { plan } = job;
  const fps = constantFps(plan) ?? source.fps ?? DEFAULT_FPS;
  const length = (SAMPLE_PICTURES / fps) * (plan.speed ?? 1);
  const total = sourceSeconds(plan);
  if (total === null) return [{ start: plan.start, end: roundTime(plan.start + length) }];
  const count = countSamples(job, total, length);
  const ranges = rangesOf(plan, total);
  const bytes = new Map<number, number>();
  for (const { at, key, bytes: size } of pictures) {
    if (key) continue;
    for (const { start, end, from } of ranges) {
      if (at < start || at >= end) continue;
      const window = Math.floor((from + at - start) / length);
      bytes.set(window, (bytes.get(window) ?? 0) + size);
    }
  }
  return Array.from({ length: count }, (_, index) => {
    const [from, to] = [(index * total) / count, ((index + 1) * total) / count];
    let best = { at: Math.max(from, (from + to - length) / 2), bytes: 0 };
    for (let window = Math.ceil(from / length); (window + 1) * length <= to; window++) {
      const size = bytes.get(window) ?? 0;
      if (size > best.bytes) best = { at: window * length, bytes: size };
    }
    const range = ranges.findLast((each) => each.from <= best.at) ?? {
      start: plan.start,
      end: plan.start + total,
      from: 0,
    };
    const last = Math.max(range.start, range.end - length);
    const start = Math.min(last, range.start + Math.round((best.at - range.from) * fps) / fps);
    return { start: roundTime(start), end: roundTime(Math.min(range.end, start + length)) };
  });
}
