import { ALL_FORMATS, BufferSource, Input } from "mediabunny";
import { PLAYLIST, parseMediaPlaylist } from "../../media/ffmpeg/manifests.ts";
import { AUDIO_MASTER, MASTER, outputFile } from "../../media/ffmpeg/output-files.ts";
import type { VideoEncode } from "../../media/ffmpeg/picture-graph.ts";
import { checkEnd } from "../../media/ffmpeg/run-log.ts";
import type { VideoFormat } from "../../media/formats.ts";
import type { Chunk, Plan } from "../../media/plan.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import { shownEnd } from "../../media/timeline.ts";
import { readMetadata } from "../../mux/file-metadata.ts";
import { readStart } from "../../mux/packets.ts";
import { stitch } from "../../mux/stitch.ts";
import { trackPlaces } from "../../probe/mediabunny.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { readAll } from "../../storage/storage.ts";
import type { ChunkJob, EncodedFile, Encoder } from "../encoder.ts";
import * as errors from "../errors.ts";
import { encodePictures } from "./chunk.ts";
import { encodeRenditions } from "./stream.ts";
import type { Ability } from "./trial.ts";

/** An encoder of sound, which WebCodecs lacks. */
export interface SoundEncoder extends Encoder {
  /** Tests support for a plan, so that `refuse` knows. Never rejects. */
  prepare?(plan: Plan, source: Source): Promise<void>;
}

/** Encodes a chunk of adaptive video, leaving the sound to another encoder; rejects as either does. */
export async function encodeStream(
  job: ChunkJob,
  video: VideoEncode,
  abilities: readonly Ability[],
  sound: Encoder | null,
): Promise<EncodedFile[]> {
  const { plan, chunk } = job;
  const [pictures, sounds] = await encodeBoth(job, [
    (own) => encodeRenditions(own, video, abilities),
    (own) => (plan.audio && chunk.track === "all" ? soundOf(own, sound) : Promise.resolve([])),
  ]);
  if (sounds.length > 0) checkEnd(Math.max(...[...pictures, ...sounds].map(listedSeconds)), plan, job.source);
  const soundFiles = sounds.map((file) => (file.name === MASTER ? { ...file, name: AUDIO_MASTER } : file));
  return [...soundFiles, ...pictures];
}

async function encodeBoth<A, B>(
  job: ChunkJob,
  [pictures, sound]: readonly [(job: ChunkJob) => Promise<A>, (job: ChunkJob) => Promise<B>],
): Promise<[A, B]> {
  const stop = new AbortController();
  const own = { ...job, signal: AbortSignal.any([job.signal, stop.signal]) };
  return Promise.all([pictures(own), sound(own)]).catch((thrown: unknown) => {
    stop.abort(thrown);
    throw thrown;
  });
}

/** Encodes a video of one chunk, leaving any sound to another encoder, and stitches both. Rejects as either does. */
export async function encodeAll(
  job: ChunkJob,
  video: VideoEncode,
  ability: Ability,
  sound: Encoder | null,
): Promise<ReadableStream<Uint8Array>> {
  const { plan } = job;
  const [pictures, sounds] = await encodeBoth(job, [
    (own) => encodePictures(own, video, ability),
    async (own) => (plan.audio?.mode === "encode" ? (await soundOf(own, sound))[0]?.bytes : null),
  ]);
  if (sounds) {
    const lengths = await Promise.all([pictures, sounds].map(secondsOf));
    checkEnd(Math.max(...lengths), plan, job.source);
  }
  const copied = plan.audio?.mode === "copy" ? job.input : null;
  return stitch({
    format: plan.format as VideoFormat,
    video: [{ input: readerOf(pictures), at: 0 }],
    audio: sounds ? readerOf(sounds) : copied,
    audioPlace: copied ? trackPlaces(job.source, plan.sound_track ?? 0).audio : 0,
    audioFrom: copied ? await readStart(copied, job.signal) : 0,
    until: video.fps === null ? shownEnd(job.source, plan, job.chunk) : null,
    ofSource: copied !== null,
    metadata: await readMetadata(plan, () => job.input, job.signal),
    signal: job.signal,
  });
}

async function soundOf(job: ChunkJob, sound: Encoder | null): Promise<EncodedFile[]> {
  const { chunk, plan } = job;
  const { onProgress: _, ...silent } = job;
  const own: Chunk = { ...chunk, track: "audio" };
  const encoded = await encodeSound({ ...silent, chunk: own }, sound);
  if (encoded instanceof ReadableStream) return [{ ...outputFile(plan, own), bytes: await readAll(encoded) }];
  if (Array.isArray(encoded) && encoded.length > 0) return encoded;
  throw errors.soundMissing();
}

/** Encodes the sound of a chunk with another encoder; rejects as that encoder does. */
export function encodeSound(job: ChunkJob, sound: Encoder | null): ReturnType<Encoder["encode"]> {
  if (!sound) throw errors.refused({ refusals: [{ encoder: "webcodecs", code: "no_sound_encoder" }] });
  return sound.encode({ ...job, plan: soundPlan(job.plan, job.chunk) });
}

/** Returns the reason why the sound of a plan cannot be encoded; null when it can, or needs no encoding. */
export function refuseSound(plan: Plan, source: Source, sound: Encoder | null): RefusalReason | null {
  const separate = plan.chunks.find(({ track }) => track === "audio");
  if (!separate && plan.audio?.mode !== "encode") return null;
  const chunk: Chunk = separate ?? { index: 0, track: "audio", start: plan.start, end: plan.end };
  return sound ? sound.refuse(soundPlan(plan, chunk), source) : { code: "no_sound_encoder" };
}

/** Lets the sound encoder test support for a plan. Never rejects. */
export async function prepareSound(plan: Plan, source: Source, sound: SoundEncoder | null): Promise<void> {
  if (plan.audio?.mode !== "encode") return;
  const chunk: Chunk = { index: 0, track: "audio", start: plan.start, end: plan.end };
  await sound?.prepare?.(soundPlan(plan, chunk), source);
}

function soundPlan(plan: Plan, chunk: Chunk): Plan {
  return { ...plan, video: null, frames: null, chunks: [{ ...chunk, track: "audio" }] };
}

async function secondsOf(bytes: Uint8Array): Promise<number> {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  try {
    return await input.computeDuration();
  } finally {
    input.dispose();
  }
}

function listedSeconds({ name, bytes }: EncodedFile): number {
  if (!name.endsWith(`/${PLAYLIST}`)) return 0;
  const { segments } = parseMediaPlaylist(name, new TextDecoder().decode(bytes));
  return segments.reduce((sum, { seconds }) => sum + seconds, 0);
}

function readerOf(bytes: Uint8Array): ByteReader {
  return { size: bytes.length, read: async ({ start, end }) => bytes.subarray(start, end) };
}
