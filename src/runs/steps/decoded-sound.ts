import { isTimedByFirst } from "../../media/containers.ts";
import { MediaError } from "../../media/errors.ts";
import { findTrack } from "../../media/features/track.ts";
import { LOSSLESS_FORMAT } from "../../media/formats.ts";
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
  const { source, request } = encode;
  if (source.kind !== "audio" || isCopied(request) || keepsSeveral(source, request))
    return encodeInput(tools, encode, context);
  const track = findTrack(source, "track" in request.options ? request.options.track : undefined);
  const encodeDecoded = async (decoded: InputEncode) => {
    const result = await encodeInput(tools, decoded, secondHalf(context));
    // `dropped` lists tracks of the input, of which the WAV has only one.
    return { ...result, plan: { ...result.plan, ...(track > 0 && { sound_track: track }) } };
  };
  const changes = isTimedByFirst(source);
  // A WAV holds no cover.
  if (changes && (!hasCover(source) || isCut(request))) {
    const decoded = await decodeSound(tools, encode, track, context).catch(unlessRefused);
    return decoded ? encodeDecoded(decoded) : encodeInput(tools, encode, context);
  }
  try {
    return await encodeInput(tools, encode, context);
  } catch (thrown) {
    // A container such as Matroska does not say that its sound changes.
    if (!isIncomplete(thrown, changes)) throw thrown;
    const decoded = await decodeSound(tools, encode, track, context).catch(() => null);
    if (!decoded) throw thrown;
    return encodeDecoded(decoded);
  }
}

function hasCover({ streams = [] }: Source): boolean {
  return streams.some(({ kind }) => kind === "cover");
}

// A WAV is no copy of the packets.
function isCopied({ options }: EncodeRequest): boolean {
  return "mode" in options && options.mode === "copy";
}

// Adaptive video keeps all sound tracks unless the request selects one, but a WAV holds only one.
function keepsSeveral({ streams = [] }: Source, { kind, options }: EncodeRequest): boolean {
  const isSelected = "track" in options && options.track !== undefined;
  return (
    kind === "adaptive_video" && !isSelected && streams.filter((stream) => stream.kind === "audio").length > 1
  );
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

const SAMPLE_BYTES = 2;
// The sizes in a WAV have 32 bits.
const MAX_BYTES = 2 ** 32 - 2 ** 20;

/** Decodes a sound track of an input; returns the encode of the WAV, or null if a WAV cannot hold that much sound. */
async function decodeSound(
  tools: StepTools,
  encode: InputEncode,
  track: number,
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
    request: { kind: "audio", options: { format: LOSSLESS_FORMAT.audio, metadata: "strip", track } },
    id: `${encode.id}-sound`,
    decide: createDecide(own),
  };
  const { encoded } = await encodeInput(own, wav, decoding);
  const decoded = await decoding.durably("probe", async (signal) => {
    const url = await tools.url(encoded.key);
    return tools.probe(await tools.open(encoded.key), { url }, signal, () => {});
  });
  const { tags, tag_values, long_tags, chapters, bitrate } = source;
  const { language } = source.streams?.filter(({ kind }) => kind === "audio")[track] ?? {};
  return {
    ...encode,
    request: withoutTrack(encode.request),
    // A repeated id would return the job of an earlier attempt.
    id: `${encode.id}-decoded`,
    key: encoded.key,
    source: {
      ...decoded,
      ...(language && { streams: decoded.streams?.map((stream) => ({ ...stream, language })) }),
      ...(bitrate !== undefined && { bitrate }),
      ...(tags && { tags }),
      ...(tag_values && { tag_values }),
      ...(long_tags && { long_tags }),
      ...(chapters && { chapters }),
    },
  };
}

function withoutTrack(request: EncodeRequest): EncodeRequest {
  if (!("track" in request.options)) return request;
  const { track: _, ...options } = request.options;
  return { ...request, options } as EncodeRequest;
}

function secondHalf(context: WorkContext): WorkContext {
  return {
    ...context,
    durably: (piece, work) => context.durably(`decoded ${piece}`, work),
    progress: async (percent) => context.progress(percent === null ? null : 50 + percent / 2),
  };
}
