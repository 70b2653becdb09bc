import { hasTransparency, type Planes, readPlanes } from "../../encoders/images/png-planes.ts";
import { similarityOf } from "../../encoders/images/similarity.ts";
import {
  AUTO_RANGE,
  bestRate,
  type MeasuredRate,
  nextRate,
  type RateRange,
} from "../../media/auto-quality.ts";
import { roundTime } from "../../media/clock.ts";
import type { ImageFormat } from "../../media/formats.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { PLAN_VERSION, type Plan, sourceEnd } from "../../media/plan.ts";
import { imageQuality } from "../../media/rates.ts";
import type { Source } from "../../media/source.ts";
import type { WorkContext } from "../ports.ts";
import { type Decide, type EncodedInput, encoderOf, type InputEncode } from "./decide-encode.ts";
import * as errors from "./errors.ts";
import { runFolder } from "./media-keys.ts";
import type { StepTools } from "./step-tools.ts";

interface Measuring {
  tools: StepTools;
  encode: InputEncode;
  encodeInput(tools: StepTools, encode: InputEncode, context: WorkContext): Promise<EncodedInput>;
  createDecide(tools: StepTools): Decide;
}

/**
 * Chooses the rate of an encode whose quality is `auto`: encodes the picture, or stills of an animation, at several rates on the task's
 * encoder, and compares each with a PNG of the source in the same size. The whole search is one durable piece.
 */
export async function measureQuality(measuring: Measuring, context: WorkContext): Promise<MeasuredRate> {
  const { tools, encode } = measuring;
  const { source, request, extra, decide } = encode;
  const { plan, decision } = await decide(source, request, { extra }, context);
  await tools.turn?.(encoderOf(tools.encoders, decision.encoder));
  return context.durably(`measure ${PLAN_VERSION}`, async (signal) => {
    const folder = `${runFolder("work", context.run_id)}measure/`;
    const search = createTrials(measuring, plan, folder, {
      run_id: context.run_id,
      progress: async (percent) => context.progress(percent === null ? null : 0),
      reportChoice: async () => {},
      async durably(_, work) {
        signal.throwIfAborted();
        return work(signal);
      },
    });
    const range = rangeOf(plan.format as ImageFormat);
    const tried: MeasuredRate[] = [];
    for (let rate = nextRate(range, tried); rate !== null; rate = nextRate(range, tried))
      tried.push({ rate, score: await search(rate, signal) });
    await tools.storage.clear(folder);
    return bestRate(range, tried) as MeasuredRate;
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

/** Returns a function that encodes all sampled pictures at a rate and returns the worst score. */
function createTrials(measuring: Measuring, plan: Plan, folder: string, context: WorkContext) {
  const { tools, encode, encodeInput, createDecide } = measuring;
  const own: StepTools = { ...tools, shared: null, turn: async () => {} };
  let count = 0;
  let samples: Promise<SamplePicture[]> | null = null;

  async function run(key: string, source: Source, request: EncodeRequest, decide: Decide) {
    const name = `${++count}`;
    const again = { ...encode, key, source, request, decide, id: `${encode.id}-measure-${name}` };
    const { encoded } = await encodeInput(own, { ...again, out: `${folder}${name}/`, name }, context);
    return encoded.key;
  }

  async function readFile(key: string): Promise<Uint8Array> {
    const reader = await tools.open(key);
    return reader.read({ start: 0, end: reader.size });
  }

  /** Converts a picture of the source or of an encoded file to a PNG with the output's background. */
  async function asPng(key: string, source: Source, request: EncodeRequest, image = plan.image) {
    const decideFreely = createDecide(own);
    const decide: Decide = async (...facts) => {
      const job = await decideFreely(...facts);
      const png = job.plan.image && image && { ...job.plan.image, alpha: image.alpha, matte: image.matte };
      return png ? { ...job, plan: { ...job.plan, image: png } } : job;
    };
    return readFile(await run(key, source, request, decide));
  }

  async function sample(): Promise<SamplePicture[]> {
    const pictures: SamplePicture[] = [];
    for (const request of requestsOf(encode.request, plan)) {
      const options = { ...request.options, format: "png", quality: undefined };
      const png = { kind: "image", options } as EncodeRequest;
      pictures.push({ request, original: await asPng(encode.key, encode.source, png) });
    }
    return pictures;
  }

  async function scoreOf({ request, original }: SamplePicture, rate: number, signal: AbortSignal) {
    const decideTrial: Decide = async (_, still, hints, now, missed) => {
      const isWhole = request === encode.request;
      const job = await (isWhole ? encode.decide : createDecide(own))(
        encode.source,
        still,
        hints,
        now,
        missed,
      );
      return { ...job, plan: withRate(job.plan, rate) };
    };
    const fixed = { ...request, options: { ...request.options, quality: "high" } } as EncodeRequest;
    const trial = await run(encode.key, encode.source, fixed, decideTrial);
    const url = await tools.url(trial);
    const source = await tools.probe(await tools.open(trial), { url }, signal, () => {});
    const png = { kind: "image", options: { format: "png" } } as EncodeRequest;
    const output = await asPng(trial, source, png, null);
    return comparePictures(original, output);
  }

  return async (rate: number, signal: AbortSignal): Promise<number | null> => {
    samples ??= sample();
    const scores: (number | null)[] = [];
    for (const picture of await samples) scores.push(await scoreOf(picture, rate, signal));
    const measured = scores.flatMap((score) => score ?? []);
    return measured.length === 0 ? null : Number(Math.min(...measured).toFixed(5));
  };
}

async function comparePictures(original: Uint8Array, output: Uint8Array): Promise<number | null> {
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
export function withRate(plan: Plan, rate: number): Plan {
  return plan.image ? { ...plan, image: { ...plan.image, quality: rate } } : plan;
}
