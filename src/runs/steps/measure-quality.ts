import { AUTO_RANGE, bestRate, type ChosenRate, type RateRange } from "../../media/auto-quality.ts";
import { roundTime } from "../../media/clock.ts";
import type { ImageFormat } from "../../media/formats.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { PLAN_VERSION, type Plan, sourceEnd } from "../../media/plan.ts";
import { imageQuality } from "../../media/rates.ts";
import type { WorkContext } from "../ports.ts";
import { type Decide, encoderOf } from "./decide-encode.ts";
import { measureVideo } from "./measure-video.ts";
import { comparePictures, createTrials, type Measurement, type Trials, tryRates } from "./quality-trials.ts";

/** Chooses the rate of an encode whose quality is `auto`, with the task's encoder. */
export async function measureQuality(measurement: Measurement, context: WorkContext): Promise<ChosenRate> {
  const { tools, encode } = measurement;
  const { source, request, extra, decide } = encode;
  const job = await decide(source, request, { extra }, context);
  await tools.turn?.(encoderOf(tools.encoders, job.decision.encoder));
  return job.plan.video
    ? measureVideo(measurement, job, context)
    : measurePictures(measurement, job.plan, context);
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
    const range = rangeOf(plan.format as ImageFormat);
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

function rangeOf(format: ImageFormat): RateRange {
  return {
    least: imageQuality(format, AUTO_RANGE.least) ?? 0,
    most: imageQuality(format, AUTO_RANGE.most) ?? 0,
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
  const options = { ...request.options, format: "png", quality: undefined };
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
  const png = { kind: "image", options: { format: "png" } } as EncodeRequest;
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

/** Returns the plan with a rate for its pictures, on the format's own scale. */
export function withRate(plan: Plan, { rate, rates }: Pick<ChosenRate, "rate" | "rates">): Plan {
  const { image, video } = plan;
  if (image) return { ...plan, image: { ...image, quality: rate } };
  if (video?.mode !== "encode") return plan;
  return { ...plan, video: { ...video, rate: { crf: rate }, ...(rates && { rates }) } };
}
