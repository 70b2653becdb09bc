import type { Decision } from "../core/decision.ts";
import { MediaError } from "../core/errors.ts";
import type { EncodeKind } from "../core/formats.ts";
import type { OptionsOf } from "../core/options.ts";
import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import type { Encoder } from "../encoders/encoder.ts";
import { type Chunk, createPlan, cutPlan, type Plan } from "../plan/index.ts";
import { type FindEntry, hasEntries, withEntries } from "../probe/entries.ts";
import { readKeyframes } from "../probe/keyframes.ts";
import { decide } from "../route/decide.ts";
import type { Offer } from "../route/offer.ts";
import { describeRefusals } from "../words/refusal-words.ts";

/** What a task or an encode step asks for. */
export interface EncodeRequest {
  kind: EncodeKind;
  options: OptionsOf<EncodeKind>;
}

/** What a host has to encode with. */
export interface Hosts {
  /** At least one. A run whose encoder is gone goes on with the first. */
  encoders: readonly Encoder[];
  /** Returns what each encoder would do with an uncut plan, in the order in which the host prefers them; never rejects. */
  offers(plan: Plan, source: Source): Promise<readonly Offer[]>;
}

/** Decides how a request is encoded. Rejects as the plan throws, and with `encoder_unavailable` when no encoder can do it. */
export async function decideEncode(hosts: Hosts, source: Source, request: EncodeRequest): Promise<Decision> {
  const uncut = uncutPlan(source, request);
  return decide(uncut, await hosts.offers(uncut, source));
}

/** Cuts the plan of a request as it was decided, at keyframes where the encoder takes the chunks that these make, and finds where decoding begins for each. */
export async function placeCuts(
  hosts: Hosts,
  source: Source,
  request: EncodeRequest,
  { encoder, chunk_seconds }: Decision,
  open: () => Promise<ByteReader>,
  signal: AbortSignal,
): Promise<Chunk[]> {
  const uncut = uncutPlan(source, request);
  const cut = (keyframes: readonly number[]) =>
    chunk_seconds === null ? uncut : cutPlan(uncut, { chunk_seconds, keyframes });
  const plan = cut([]);
  const pictured = plan.image !== null || plan.video?.mode === "encode";
  if (plan.still || !pictured || plan.chunks.every(({ start }) => start === 0)) return plan.chunks;
  const reader = await open();
  const several = plan.kind === "video" && plan.chunks.length > 1;
  const better = several ? cut(await readKeyframes(reader, source, signal)).chunks : plan.chunks;
  return withEntries(reader, source, signal, async (find) => {
    const blind = source.format === "avi" ? Number.POSITIVE_INFINITY : BLIND_SECONDS;
    const entryOf = (time: number) =>
      hasEntries(source) ? find(time) : Promise.resolve(Math.max(0, time - blind));
    const finish = plan.start + (plan.duration ?? Number.POSITIVE_INFINITY);
    const placed = await placeChunks(better, finish, entryOf);
    const fits = encoderOf(hosts.encoders, encoder).refuse({ ...plan, chunks: placed }, source) === null;
    return fits ? placed : Promise.all(plan.chunks.map((chunk) => placeChunk(chunk, entryOf)));
  });
}

function uncutPlan(source: Source, { kind, options }: EncodeRequest): Plan {
  return createPlan(source, kind, options, { chunk_seconds: Number.POSITIVE_INFINITY });
}

// Where no entry can be looked up, decoding begins this much earlier; a chunk that lacks pictures all the same is encoded again. An AVI
// has no presentation times, and ffmpeg guesses other ones after a jump: it is always read from its start.
const BLIND_SECONDS = 5;
// A chunk whose decoding would have to begin further before it, and further than it is long, is not worth a cut.
const MOST_LEAD_SECONDS = 10;

async function placeChunks(chunks: readonly Chunk[], finish: number, entryOf: FindEntry): Promise<Chunk[]> {
  const placed: Chunk[] = [];
  for (const chunk of chunks) {
    const next = await placeChunk(chunk, entryOf);
    const lead = next.start - (next.decode_from ?? next.start);
    const length = (next.end ?? finish) - next.start;
    const last = placed.at(-1);
    const joins =
      last?.track === "video" && next.track === "video" && lead > MOST_LEAD_SECONDS && lead > length;
    if (last && joins) placed[placed.length - 1] = { ...last, end: next.end };
    else placed.push({ ...next, index: placed.length });
  }
  return placed;
}

async function placeChunk(chunk: Chunk, entryOf: FindEntry): Promise<Chunk> {
  if (chunk.track === "audio" || chunk.start === 0) return chunk;
  return { ...chunk, decode_from: (await entryOf(chunk.start)) ?? 0 };
}

/** Returns the encoder of a name, else the first; throws `encoder_unavailable` when there is none at all. */
export function encoderOf(encoders: Hosts["encoders"], name: string): Encoder {
  const encoder = encoders.find((each) => each.name === name) ?? encoders[0];
  if (!encoder) throw new MediaError("encoder_unavailable", describeRefusals([]));
  return encoder;
}
