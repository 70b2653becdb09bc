import type { ErrorReason } from "../../core/error-reason.ts";
import type { ErrorKind } from "../../core/errors.ts";
import type { Source } from "../../core/source.ts";
import type { Tally } from "../../ffmpeg/tally.ts";
import type { Chunk, Plan } from "../../plan/plan.ts";
import type { RemoteFiles, WrittenFile } from "../encoder.ts";

/** Version of the protocol between the service and the native encoder; each side refuses another. */
export const NATIVE_PROTOCOL = 2;

/**
 * What the native encoder is asked to do, by `POST /jobs`: answered 202 with a {@link NativeState}, 200 when it has the job
 * already, 503 with Retry-After when all its places are taken or it is about to end.
 */
export interface NativeJob extends RemoteFiles {
  protocol: typeof NATIVE_PROTOCOL;
  /** Letters, digits, `_`, `-` and `.`, at most 128: the same id is the same job. */
  id: string;
  plan: Plan;
  chunk: Chunk;
  source: Source;
}

/** How a job stands: the answer of `POST /jobs` and of `GET /jobs/{id}?wait=SECONDS`, which answers at a change or after that time; 404 when there is no such job. `DELETE /jobs/{id}` answers 204 when ffmpeg and its files are gone. */
export type NativeState =
  | {
      state: "running";
      /** Share of the work that is done, 0 to 1. */
      share: number;
      /** Seconds of output made in a second; null until known. */
      speed: number | null;
    }
  | {
      state: "done";
      /** The files put into the job's folder. */
      written: WrittenFile[];
      /** Playlists of adaptive video, which are not put anywhere. */
      playlists: { name: string; mime: string; text: string }[];
      tally: Tally;
    }
  | {
      state: "failed";
      error: { kind: ErrorKind; message: string; retryable: boolean; reason?: ErrorReason };
    };

/** The answer of `GET /health`. */
export interface NativeHealth {
  protocol: typeof NATIVE_PROTOCOL;
  /** Version of ffmpeg, such as `5.1.9`. */
  ffmpeg: string;
  /** Jobs that may run at once. */
  places: number;
  running: number;
  /** True when it takes no new jobs because it is about to end. */
  ending: boolean;
}
