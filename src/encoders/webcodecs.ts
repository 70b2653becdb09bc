import { MediaError } from "../core/errors.ts";
import type { VideoFormat } from "../core/formats.ts";
import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { outputFile } from "../ffmpeg/output.ts";
import type { VideoEncode } from "../ffmpeg/video-args.ts";
import type { Chunk, Plan } from "../plan/plan.ts";
import { readAll } from "../storage/read-all.ts";
import type { ChunkJob, Encoder } from "./encoder.ts";
import { stitch } from "./stitch.ts";
import { encodePictures } from "./webcodecs-chunk.ts";
import { createDecoders } from "./webcodecs-source.ts";
import { type Ability, tryCodec } from "./webcodecs-trial.ts";

/** What the encoder is given beside the browser. */
export interface WebCodecsOptions {
  /** Encodes the sound of a plan, which WebCodecs can not in the formats that Framewright writes; null refuses plans whose sound needs encoding. */
  sound: Encoder | null;
}

/** The browser's own encoders behind the port. */
export interface WebCodecsEncoder extends Encoder {
  /** Tries what a plan needs on this machine, once for each codec and size; `can` answers from what was found. Never rejects. */
  prepare(plan: Plan, source: Source): Promise<void>;
}

/**
 * Creates the encoder "webcodecs": video by the browser's own encoders, in a page or a dedicated worker. Sound that is copied goes
 * in as it is, other sound is given to the encoder of the options; pictures and sound are encoded side by side and stitched.
 * `encode` rejects with `encoder_unavailable` when the machine's encoder turns out not to work.
 */
export function createWebCodecsEncoder({ sound }: WebCodecsOptions): WebCodecsEncoder {
  const tried = new Map<string, Promise<Ability | string>>();
  const known = new Map<string, Ability | string>();
  const decoders = createDecoders();

  const attempt = async ({ codec, geometry: { width, height } }: VideoEncode) => {
    const name = `${codec} ${width}x${height}`;
    const trial = tried.get(name) ?? tryCodec(codec, { width, height });
    tried.set(name, trial);
    known.set(name, await trial);
    return trial;
  };

  return {
    name: "webcodecs",
    async prepare(plan, source) {
      if (plan.video?.mode !== "encode") return;
      await Promise.all([attempt(plan.video), decoders.prepare(source)]);
    },
    can(plan, source) {
      const { video } = plan;
      if (plan.kind !== "video" || video?.mode !== "encode") return "it only encodes video";
      const refusal = refuseWork(video) ?? decoders.refuse(source);
      if (refusal !== null) return refusal;
      const { codec, geometry } = video;
      const ability = known.get(`${codec} ${geometry.width}x${geometry.height}`);
      if (ability === undefined) return "its encoder has not been tried on this machine";
      if (typeof ability === "string") return ability;
      return refuseSound(plan, source, sound);
    },
    async encode(job) {
      const { plan, chunk } = job;
      if (chunk.track === "audio") return encodeSound(job, sound);
      const { video } = plan;
      if (video?.mode !== "encode") throw new MediaError("encode_failed", "There are no pictures to encode.");
      const ability = await attempt(video);
      if (typeof ability === "string") throw new MediaError("encoder_unavailable", ability);
      if (chunk.track === "video") {
        const bytes = await encodePictures(job, video, ability);
        return [{ ...outputFile(plan, chunk), bytes }];
      }
      return encodeAll(job, video, ability, sound);
    },
  };
}

// Pictures and sound side by side: when one fails, the other is ended.
async function encodeAll(
  job: ChunkJob,
  video: VideoEncode,
  ability: Ability,
  sound: Encoder | null,
): Promise<ReadableStream<Uint8Array>> {
  const { plan } = job;
  const stop = new AbortController();
  const signal = AbortSignal.any([job.signal, stop.signal]);
  const both = Promise.all([
    encodePictures({ ...job, signal }, video, ability),
    plan.audio?.mode === "encode" ? soundOf({ ...job, signal }, sound) : null,
  ]);
  const [pictures, heard] = await both.catch((thrown: unknown) => {
    stop.abort(thrown);
    throw thrown;
  });
  const copied = plan.audio?.mode === "copy" ? job.input : null;
  return stitch({
    format: plan.format as VideoFormat,
    video: [{ input: readerOf(pictures), at: 0 }],
    audio: heard ? readerOf(heard) : copied,
    of_source: copied !== null,
    signal: job.signal,
  });
}

async function soundOf(job: ChunkJob, sound: Encoder | null): Promise<Uint8Array> {
  const { chunk } = job;
  const { onProgress: _, ...silent } = job;
  const encoded = await encodeSound({ ...silent, chunk: { ...chunk, track: "audio" } }, sound);
  if (encoded instanceof ReadableStream) return readAll(encoded);
  const [file] = Array.isArray(encoded) ? encoded : [];
  if (!file) throw new MediaError("encode_failed", "The encoder of the sound gave nothing.");
  return file.bytes;
}

function encodeSound(job: ChunkJob, sound: Encoder | null): ReturnType<Encoder["encode"]> {
  if (!sound) throw new MediaError("encoder_unavailable", NO_SOUND);
  return sound.encode({ ...job, plan: soundPlan(job.plan, job.chunk) });
}

const NO_SOUND = "the sound needs an encoder of its own";

function refuseSound(plan: Plan, source: Source, sound: Encoder | null): string | null {
  const apart = plan.chunks.find(({ track }) => track === "audio");
  if (!apart && plan.audio?.mode !== "encode") return null;
  const chunk: Chunk = apart ?? { index: 0, track: "audio", start: plan.start, end: plan.end };
  const refusal = sound ? sound.can(soundPlan(plan, chunk), source) : NO_SOUND;
  return refusal === null || !sound ? refusal : `its sound: ${refusal}`;
}

// The pictures are no work of whoever encodes the sound.
function soundPlan(plan: Plan, chunk: Chunk): Plan {
  return { ...plan, video: null, frames: null, chunks: [{ ...chunk, track: "audio" }] };
}

function refuseWork(video: VideoEncode): string | null {
  if (video.tone_map) return "it cannot map the tones of HDR";
  if (video.depth !== 8) return "it encodes 8 bits alone";
  return video.deinterlace ? "it cannot deinterlace" : null;
}

function readerOf(bytes: Uint8Array): ByteReader {
  return { size: bytes.length, read: async ({ start, end }) => bytes.subarray(start, end) };
}
