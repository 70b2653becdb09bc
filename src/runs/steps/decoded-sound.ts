import { isTimedByFirst } from "../../media/containers.ts";
import { MediaError } from "../../media/errors.ts";
import type { EncodeRequest } from "../../media/options.ts";
import type { Source } from "../../media/source.ts";
import type { WorkContext } from "../ports.ts";
import type { EncodedInput, InputEncode } from "./decide-encode.ts";
import { createDecide, encodeInput } from "./encode.ts";
import { runFolder } from "./media-keys.ts";
import type { StepTools } from "./step-tools.ts";

/**
 * Encodes an input as {@link encodeInput} does. Sound whose channels or sample rate change midway is decoded to a WAV first: ffmpeg (5.1)
 * loses up to a frame of the output at each change, and times bare frames by the sample rate of the first.
 */
export async function encodeAnyInput(
  tools: StepTools,
  encode: InputEncode,
  context: WorkContext,
): Promise<EncodedInput> {
  const { source } = encode;
  if (source.kind !== "audio" || isCopied(encode.request)) return encodeInput(tools, encode, context);
  const changes = isTimedByFirst(source);
  // A WAV holds no cover.
  if (changes && (!hasCover(source) || isCut(encode.request))) {
    const decoded = await decodeSound(tools, encode, context).catch(unlessRefused);
    return encodeInput(tools, decoded ?? encode, decoded ? secondHalf(context) : context);
  }
  try {
    return await encodeInput(tools, encode, context);
  } catch (thrown) {
    // A container such as Matroska does not say that its sound changes.
    if (!isIncomplete(thrown, changes)) throw thrown;
    const decoded = await decodeSound(tools, encode, context).catch(() => null);
    if (!decoded) throw thrown;
    return encodeInput(tools, decoded, secondHalf(context));
  }
}

function hasCover({ streams = [] }: Source): boolean {
  return streams.some(({ kind }) => kind === "cover");
}

// A WAV is no copy of the packets.
function isCopied({ options }: EncodeRequest): boolean {
  return "mode" in options && options.mode === "copy";
}

function isCut({ options }: EncodeRequest): boolean {
  return ["start", "end", "parts"].some((name) => options[name as keyof typeof options] !== undefined);
}

function unlessRefused(thrown: unknown): null {
  if (thrown instanceof MediaError && thrown.kind === "encoder_unavailable") return null;
  throw thrown;
}

function isIncomplete(thrown: unknown, changes: boolean): boolean {
  if (!(thrown instanceof MediaError)) return false;
  return thrown.kind === "encode_incomplete" || (changes && thrown.kind === "encode_failed");
}

const WAV: EncodeRequest = { kind: "audio", options: { format: "wav", metadata: "strip" } };
const SAMPLE_BYTES = 2;
// The sizes in a WAV have 32 bits.
const MAX_BYTES = 2 ** 32 - 2 ** 20;

/** Decodes the sound of an input; returns the encode of the WAV, or null if a WAV cannot hold that much sound. */
async function decodeSound(
  tools: StepTools,
  encode: InputEncode,
  context: WorkContext,
): Promise<InputEncode | null> {
  const { source } = encode;
  const { duration, audio } = source;
  if (!duration || !audio) return null;
  if (duration * audio.sample_rate * audio.channels * SAMPLE_BYTES > MAX_BYTES) return null;
  const own: StepTools = { ...tools, shared: null };
  const out = `${runFolder("work", context.run_id)}sound/`;
  const decoding: WorkContext = {
    ...context,
    durably: (piece, work) => context.durably(`sound ${piece}`, work),
    progress: async (percent) => context.progress(percent === null ? null : percent / 2),
    reportChoice: async () => {},
  };
  const wav: InputEncode = {
    key: encode.key,
    source,
    extra: [],
    out,
    name: "sound",
    request: WAV,
    id: `${encode.id}-sound`,
    decide: createDecide(own),
  };
  const { encoded } = await encodeInput(own, wav, decoding);
  const decoded = await decoding.durably("probe", async (signal) => {
    const url = await tools.url(encoded.key);
    return tools.probe(await tools.open(encoded.key), { url }, signal, () => {});
  });
  const { tags, tag_values, long_tags, chapters, bitrate } = source;
  return {
    ...encode,
    // A repeated id would return the job of an earlier attempt.
    id: `${encode.id}-decoded`,
    key: encoded.key,
    source: {
      ...decoded,
      ...(bitrate !== undefined && { bitrate }),
      ...(tags && { tags }),
      ...(tag_values && { tag_values }),
      ...(long_tags && { long_tags }),
      ...(chapters && { chapters }),
    },
  };
}

function secondHalf(context: WorkContext): WorkContext {
  return {
    ...context,
    durably: (piece, work) => context.durably(`decoded ${piece}`, work),
    progress: async (percent) => context.progress(percent === null ? null : 50 + percent / 2),
  };
}
