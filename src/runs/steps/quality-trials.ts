import { hasTransparency, type Planes, readPlanes } from "../../encoders/images/png-planes.ts";
import { similarityOf } from "../../encoders/images/similarity.ts";
import { type MeasuredRate, nextRate, type RateRange } from "../../media/auto-quality.ts";
import type { EncodeRequest } from "../../media/options.ts";
import type { ImagePlan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import type { WorkContext } from "../ports.ts";
import type { Decide, EncodedInput, InputEncode } from "./decide-encode.ts";
import * as errors from "./errors.ts";
import { runFolder } from "./media-keys.ts";
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
    const { encoded } = await encodeInput(
      own,
      { ...again, out: `${folder}${number}/`, name: number },
      context,
    );
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
