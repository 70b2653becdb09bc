import type { ErrorReason } from "../../media/error-reason.ts";
import type { ErrorKind } from "../../media/errors.ts";
import type { PacketCounts } from "../../media/ffmpeg/packet-count.ts";
import { type Chunk, PLAN_VERSION, type Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { MIB } from "../../util/bytes.ts";
import type { JobBatch, RemoteFiles, WrittenFile } from "../encoder.ts";

/**
 * Version of the protocol between the service and the native encoder, which reads this version and the previous one. It equals the
 * version of the plan, the main part of a job. A new feature needs no new version, because `GET /health` lists the features.
 */
export const NATIVE_PROTOCOL = PLAN_VERSION;

/**
 * Body of `POST /jobs?wait=SECONDS`. Responses: 202 with a {@link NativeState}; 200 when the job already exists; 503 with Retry-After
 * when all slots are still taken after that time, or the encoder is shutting down.
 */
export interface NativeJob extends RemoteFiles {
  protocol: typeof NATIVE_PROTOCOL;
  /** Letters, digits, `_`, `-` and `.`, at most 128; the same id is the same job. */
  id: string;
  /** Lanes share the slots equally, however many jobs each has; at most 128 characters. */
  lane?: string;
  /** The batch of jobs that one ffmpeg may encode, because they decode the same source; absent for none. */
  together?: JobBatch;
  plan: Plan;
  chunk: Chunk;
  /**
   * The schema is as strict as the plan's: an encoder rejects facts unknown to it. A new fact that changes the output also needs a
   * feature, by which older encoders refuse.
   */
  source: Source;
}

/**
 * Returns the plan and the source of a job without the facts that no encoder reads, and with `flipped` under its former name
 * `mirrored`, because older encoders reject names that they do not know.
 */
export function jobOnWire(plan: Plan, source: Source): { plan: Plan; source: Source } {
  const concat = plan.concat?.map((part) => ({ ...part, source: sourceOnWire(part.source) }));
  return { plan: concat ? { ...plan, concat } : plan, source: sourceOnWire(source) };
}

function sourceOnWire({ exif, xmp, iptc, comments, flipped, ...source }: Source): Source {
  const streams = source.streams?.map(({ tag_names, ...stream }) => stream);
  return { ...source, ...(streams && { streams }), ...(flipped && { mirrored: flipped }) };
}

/** Maximum bytes of a picture that is sent with its request; the encoder holds one at a time in memory. */
export const MAX_PICTURE_INPUT = 256 * MIB;
/** Maximum bytes of a picture that is returned. */
export const MAX_PICTURE_BYTES = 32 * MIB;
/** Maximum seconds of work on such a picture. */
export const MAX_PICTURE_SECONDS = 30;

/**
 * Body of `POST /pictures?wait=SECONDS`: a frame followed by the picture. Responses: 200 with the new picture; 422 with kind and message
 * when it cannot be encoded; 503 with Retry-After when no slot, or the one slot for such pictures, is free within that time.
 */
export interface NativePicture extends Pick<NativeJob, "protocol" | "lane" | "plan" | "chunk" | "source"> {
  /** Bytes of the picture. */
  size: number;
}

/**
 * State of a job: the response to `POST /jobs` and to `GET /jobs/{id}?wait=SECONDS`, which responds on a change or after that time,
 * with 404 when there is no such job. `DELETE /jobs/{id}` responds with 204 when ffmpeg and its files are gone.
 */
export type NativeState =
  | {
      state: "running";
      /** Finished share of the work, 0 to 1. */
      share: number;
      /** Seconds of output produced per second; null until known. */
      speed: number | null;
    }
  | {
      state: "done";
      /** The files stored in the job's folder. */
      written: WrittenFile[];
      /** Playlists of adaptive video, which are not stored. */
      playlists: { name: string; mime: string; text: string }[];
      tally: PacketCounts;
    }
  | {
      state: "failed";
      error: { kind: ErrorKind; message: string; retryable: boolean; reason?: ErrorReason };
    };

/** Response to `GET /health`. */
export interface NativeHealth {
  protocol: typeof NATIVE_PROTOCOL;
  /** Versions of the protocol that it reads, in ascending order. */
  reads: readonly number[];
  /** Names of the supported features. */
  features: readonly string[];
  /** Version of ffmpeg, such as `5.1.9`. */
  ffmpeg: string;
  /** Maximum number of jobs at once. */
  places: number;
  /** Number of running jobs. */
  running: number;
  /** Whether it rejects new jobs because it is shutting down. */
  ending: boolean;
}
