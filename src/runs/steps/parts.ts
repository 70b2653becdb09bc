import { type ExtraInput, extraInputs } from "../../media/extra-inputs.ts";
import { type CopyJoin, canJoinByCopy } from "../../media/features/concat-plan.ts";
import { createPlan } from "../../media/index.ts";
import type { EncodeRequest } from "../../media/options.ts";
import type { Source } from "../../media/source.ts";
import { readCopyJoin } from "../../mux/join-mp4.ts";
import { throttle } from "../../util/async.ts";
import type { ByteReader, StepContext } from "../ports.ts";
import { decideEncode } from "./decide-encode.ts";
import { naming, probeFurther } from "./extra-inputs.ts";
import { furtherKey } from "./media-keys.ts";
import type { StepTools } from "./step-tools.ts";

interface Seen {
  role: ExtraInput["role"];
  reader: ByteReader;
  source: Source;
}

/**
 * Refuses joined videos that cannot be planned before any of them is copied, as far as their servers send ranges; returns the
 * further inputs as probed, or null where they are known only once they are copied.
 */
export async function checkParts(
  tools: StepTools,
  { source, key, request }: { source: Source; key: string; request: EncodeRequest },
  context: StepContext,
): Promise<readonly Source[] | null> {
  if (request.kind !== "video" || request.options.concat === undefined) return null;
  const { options } = request;
  return context.durably("check parts", async (signal) => {
    const inputs = extraInputs(request);
    // A page's files lie in the run's folder from the start, as do the parts that an earlier attempt copied.
    const there = inputs.map((_, at) => tools.storage.head(furtherKey(context.run_id, at)));
    if ((await Promise.all(there)).some((each) => each !== null)) return null;
    const opened = inputs.map((input) => seeInput(tools, input, context, signal));
    const results = await Promise.allSettled(opened);
    const seen: Seen[] = [];
    for (const result of results) {
      if (result.status === "rejected") throw result.reason;
      if (result.value === null) return null;
      seen.push(result.value);
    }
    const extra = seen.map((each) => each.source);
    const join = canJoinByCopy(source, options, extra);
    if (join === false) await decideEncode(tools, source, request, { extra });
    else if (options.mode === "copy") {
      // What is not pinned is read once it is copied.
      const readers = (await tools.storage.head(key)) && [
        await tools.open(key),
        ...seen.flatMap(({ role, reader }) => (role === "concat" ? [reader] : [])),
      ];
      const copyJoin = join === true ? readers && (await readCopyJoin(readers, signal)) : join;
      createPlan(source, request.kind, options, { extra, copyJoin });
    }
    return extra;
  });
}

// Null for what has to be copied first: a text, or a file on a server without ranges.
async function seeInput(
  tools: StepTools,
  { role, url, param }: ExtraInput,
  context: StepContext,
  signal: AbortSignal,
): Promise<Seen | null> {
  if (role === "subtitles") return null;
  try {
    const { file, reader, mime } = await tools.inputs.open(url, signal);
    try {
      if (reader === null) return null;
      const given = { url, ...(mime && { mime }) };
      const alive = throttle(() => context.progress(null).catch(() => undefined));
      return { role, reader, source: await probeFurther(tools, { role, reader, given, signal, alive }) };
    } finally {
      await file.close();
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw naming(param, thrown);
  }
}

interface Parts {
  /** Where the input is. */
  key: string;
  source: Source;
  request: EncodeRequest;
  extra: readonly Source[];
}

/**
 * Finds out, once per run, whether the pictures of joined videos can be copied. Reads their indexes only where nothing else speaks
 * against it; null where the pictures are encoded anyway.
 */
export async function matchParts(
  open: (key: string) => Promise<ByteReader>,
  { key, source, request, extra }: Parts,
  context: StepContext,
): Promise<CopyJoin | null> {
  if (request.kind !== "video") return null;
  const { options } = request;
  const join = canJoinByCopy(source, options, extra);
  if (join !== true) return join || null;
  return context.durably("match", async (signal) => {
    const keys = [key, ...(options.concat ?? []).map((_, at) => furtherKey(context.run_id, at))];
    return readCopyJoin(await Promise.all(keys.map(open)), signal);
  });
}
