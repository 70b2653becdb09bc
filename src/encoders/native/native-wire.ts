import type { ErrorReason } from "../../media/error-reason.ts";
import type { ErrorKind } from "../../media/errors.ts";
import type { PacketCounts } from "../../media/ffmpeg/packet-count.ts";
import { type Chunk, PLAN_VERSION, type Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { MIB } from "../../util/bytes.ts";
import type { RemoteFiles, TogetherJobs, WrittenFile } from "../encoder.ts";

/**
 * Version of the protocol between the service and the native encoder, which reads jobs of this version and of the previous one. It is
 * that of the plan, the main part of a job. A new feature needs no new version, because `GET /health` lists the features.
 */
export const NATIVE_PROTOCOL = PLAN_VERSION;

/**
 * Body of `POST /jobs?wait=SECONDS`. Answers: 202 with a {@link NativeState}; 200 when the job already exists; 503 with Retry-After
 * when all slots are still taken after that time, or the encoder is shutting down.
 */
export interface NativeJob extends RemoteFiles {
  protocol: typeof NATIVE_PROTOCOL;
  /** Letters, digits, `_`, `-` and `.`, at most 128; the same id is the same job. */
  id: string;
  /** Jobs of different lanes take turns at a slot that is free, however many there are of each; at most 128 characters. */
  lane?: string;
  /** The jobs that may be encoded by one ffmpeg with this one, because they decode the same; absent for none. */
  together?: TogetherJobs;
  plan: Plan;
  chunk: Chunk;
  source: Source;
}

/** Bytes of a picture that is sent with its request; the encoder holds one at a time in memory. */
export const MAX_PICTURE_INPUT = 256 * MIB;
/** Bytes of a picture that is returned. */
export const MAX_PICTURE_BYTES = 32 * MIB;
/** Seconds that an encoder works on such a picture at most. */
export const MAX_PICTURE_SECONDS = 30;

/**
 * Body of `POST /pictures?wait=SECONDS`, as a frame followed by the picture. Answers: 200 with the new picture; 422 with kind and
 * message where it cannot be made; 503 with Retry-After when no slot, or not the only one for such pictures, is free within that time.
 */
export interface NativePicture extends Pick<NativeJob, "protocol" | "lane" | "plan" | "chunk" | "source"> {
  /** Bytes of the picture. */
  size: number;
}

/**
 * State of a job: the answer of `POST /jobs` and of `GET /jobs/{id}?wait=SECONDS`, which responds on a change or after that
 * time; 404 when there is no such job. `DELETE /jobs/{id}` responds with 204 when ffmpeg and its files are gone.
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

/** Body of the answer to `GET /health`. */
export interface NativeHealth {
  protocol: typeof NATIVE_PROTOCOL;
  /** Versions of the protocol that it reads, in ascending order. */
  reads: readonly number[];
  /** Names of the features that it can carry out. */
  features: readonly string[];
  /** Version of ffmpeg, such as `5.1.9`. */
  ffmpeg: string;
  /** Jobs that it runs at once. */
  places: number;
  /** Jobs that it runs now. */
  running: number;
  /** Whether it rejects new jobs because it is shutting down. */
  ending: boolean;
}
