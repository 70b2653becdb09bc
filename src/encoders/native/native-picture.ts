import { z } from "zod";
import { ERROR_KINDS, MediaError } from "../../media/errors.ts";
import { refuseTools } from "../../media/ffmpeg/toolset.ts";
import type { Plan } from "../../media/plan.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { MIB } from "../../util/bytes.ts";
import type { ChunkJob } from "../encoder.ts";
import * as errors from "../errors.ts";
import { FRAME_MIME, type FramePart, writeFrame } from "../wire-frame.ts";
import {
  callForBytes,
  createNativeFeatures,
  isBusy,
  type NativeInstance,
  parseJson,
  rejectionOf,
} from "./native-job.ts";
import {
  jobOnWire,
  MAX_PICTURE_BYTES,
  MAX_PICTURE_SECONDS,
  NATIVE_PROTOCOL,
  type NativePicture,
} from "./native-wire.ts";

/** Options of {@link createPictureEncoder}. */
export interface PictureEncoderOptions {
  /** The encoders, in the order to try them. */
  instances: readonly NativeInstance[];
  /** Bearer token for the Authorization header; absent when they need none or the instance adds it. */
  token?: string | undefined;
}

/** A picture to encode; it is read and sent in slices. */
export interface PictureWork extends Pick<ChunkJob, "plan" | "chunk" | "source" | "signal"> {
  lane: string;
  input: ByteReader;
}

/** The client of native encoders for pictures that are sent with their request. */
export interface PictureEncoder {
  /** Queries the encoders' features for `refuse`, unless a plan needs none. Never rejects. */
  prepare(plan: Plan): Promise<void>;
  /** Returns the reason why no encoder can run a plan; null when one can. */
  refuse(plan: Plan, source: Source): RefusalReason | null;
  /**
   * Encodes one picture in one request; the caller limits the pictures in memory. Rejects with `service_unavailable` when no encoder
   * has a free slot within seconds, with `worker_lost` when none can be reached, and otherwise with the encoder's own error.
   */
  encode(work: PictureWork): Promise<Uint8Array<ArrayBuffer>>;
}

const WAIT_MS = 4000;
const TRANSFER_MS = 15_000;
const HEALTH_MS = 10_000;
const SLICE = MIB;
const Fault = z.object({ kind: z.enum(ERROR_KINDS), message: z.string().min(1).max(2000) });

/** Creates a {@link PictureEncoder}. */
export function createPictureEncoder({ instances, token }: PictureEncoderOptions): PictureEncoder {
  const features = createNativeFeatures(instances, HEALTH_MS);

  async function send(instance: NativeInstance, { signal, ...work }: PictureWork, waitMs: number) {
    const { plan, chunk, source, lane, input } = work;
    const { size } = input;
    const head: NativePicture = {
      protocol: NATIVE_PROTOCOL,
      lane,
      ...jobOnWire(plan, source),
      chunk,
      size,
    };
    const init = {
      method: "POST",
      headers: {
        "Content-Type": FRAME_MIME,
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
      body: writeFrame(head, slices(input, signal)),
      ...{ duplex: "half" },
    };
    const limits = {
      ms: waitMs + MAX_PICTURE_SECONDS * 1000 + TRANSFER_MS,
      signal,
      bytes: MAX_PICTURE_BYTES,
    };
    const answer = await callForBytes(instance, `/pictures?wait=${waitMs / 1000}`, init, limits);
    if (answer.status === 200) return answer.bytes;
    const text = new TextDecoder().decode(answer.bytes);
    if (isBusy({ status: answer.status, text })) return null;
    const fault = Fault.safeParse(parseJson(text));
    if (answer.status === 422 && fault.data) throw new MediaError(fault.data.kind, fault.data.message);
    const refused = rejectionOf(instance, text, "picture");
    if (refused) throw refused;
    throw errors.nativePictureStatus({ status: answer.status });
  }

  async function encode(work: PictureWork) {
    const until = Date.now() + WAIT_MS;
    const busy: NativeInstance[] = [];
    let fault: unknown = errors.noNativeEncoder();
    const trySend = async (instance: NativeInstance, waitMs: number) => {
      try {
        const bytes = await send(instance, work, waitMs);
        if (!bytes) busy.push(instance);
        return bytes;
      } catch (thrown) {
        work.signal.throwIfAborted();
        if (thrown instanceof MediaError) throw thrown;
        fault = thrown;
        return null;
      }
    };
    for (const instance of instances) {
      if (!(await features.ask(instance, work.plan, work.signal))) continue;
      const bytes = await trySend(instance, instances.length > 1 ? 0 : WAIT_MS);
      if (bytes) return bytes;
    }
    const [first] = busy;
    if (!first) throw errors.nativesUnreachable({ cause: fault });
    const remaining = until - Date.now();
    const bytes = instances.length > 1 && remaining > 0 ? await trySend(first, remaining) : null;
    if (bytes) return bytes;
    throw errors.nativesBusy();
  }

  return {
    prepare: features.prepare,
    refuse: (plan, source) => refuseTools(plan, source, features.tools(plan)),
    encode,
  };
}

function* slices(input: ByteReader, signal: AbortSignal): Generator<FramePart> {
  for (let at = 0; at < input.size; at += SLICE)
    yield () => input.read({ start: at, end: Math.min(input.size, at + SLICE) }, signal);
}
