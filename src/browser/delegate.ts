import { MediaError, toMediaError } from "../core/errors.ts";
import { requestOf, type Task } from "../core/task.ts";
import { isFinished } from "../core/transitions.ts";
import type { PieceStore } from "../stores/indexeddb.ts";
import type { MediaApi, MediaEvent, Run } from "./media-api.ts";
import { mirror } from "./mirror.ts";
import type { RunRecords } from "./run-records.ts";

/** Has tasks done at the fallback that no encoder here can do; the page reaches it, the records are kept here. */
export interface Delegation {
  /** True when a run may be done there: there is a fallback, and the input is a URL. */
  takes(record: Run): boolean;
  /** The id that a run has there, with the reason why it is there; null when it is done here. */
  find(run_id: string): Promise<Delegated | null>;
  /** Has the task created there and follows it to its end. */
  begin(run_id: string, refusal: string, signal: AbortSignal): Promise<void>;
  /** Follows a task that is there to its end. */
  carryOn(run_id: string, delegated: Delegated, signal: AbortSignal): Promise<void>;
  /** Takes how the task there stands. */
  followed(...told: Parameters<MediaApi["followed"]>): Promise<void>;
}

/** A task that is done elsewhere. */
export interface Delegated {
  /** Its id there; null until it is created. */
  remote: string | null;
  /** Why it is not done here. */
  refusal: string;
}

const PIECE = "delegated";

/** Builds the delegation of a tab; `tell` reaches the page. */
export function createDelegation(
  has_fallback: boolean,
  records: RunRecords,
  pieces: PieceStore,
  tell: (event: MediaEvent) => void,
): Delegation {
  const ends = new Map<string, { delegated: Delegated; end(): void }>();

  const find = async (id: string) => ((await pieces.get(id, PIECE))?.value ?? null) as Delegated | null;

  async function carryOn(id: string, delegated: Delegated, signal: AbortSignal): Promise<void> {
    const record = await records.get("task", id);
    if (!has_fallback) {
      await failOpen(
        record,
        new MediaError("encoder_unavailable", `${delegated.refusal} This page knows no other place.`),
      );
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(id, { delegated, end: resolve });
    const aborted = () => {
      tell({ type: "unfollow", id, remote: delegated.remote });
      resolve();
    };
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) {
      ends.delete(id);
      return aborted();
    }
    tell({ type: "follow", id, request: requestOf(record as Task), remote: delegated.remote });
    await promise;
    signal.removeEventListener("abort", aborted);
    ends.delete(id);
  }

  async function failOpen(record: Run, { kind, message, retryable }: MediaError): Promise<void> {
    const open = record.object === "task" ? record.steps.find((step) => !isFinished(step)) : record;
    const step_id = open?.id ?? record.id;
    await records.apply(record.id, { type: "step_failed", step_id, error: { kind, message, retryable } });
  }

  return {
    takes: (record) => has_fallback && record.object === "task" && /^(https?|s3):/i.test(record.input),
    find,
    async begin(id, refusal, signal) {
      const delegated: Delegated = { remote: null, refusal };
      await pieces.put(id, PIECE, delegated);
      // Whatever was chosen here did not do it.
      await records.choose(id, null);
      await carryOn(id, delegated, signal);
    },
    carryOn,
    async followed(id, told) {
      const going = ends.get(id);
      if (!going) return;
      if ("error" in told && !("steps" in told)) {
        const { kind, message } = told.error;
        const why = new MediaError(
          kind as MediaError["kind"],
          `${going.delegated.refusal} Elsewhere: ${message}`,
        );
        await failOpen(await records.get("task", id), toMediaError(why));
        return going.end();
      }
      const remote = told as Task;
      if (going.delegated.remote === null) {
        going.delegated.remote = remote.id;
        await pieces.put(id, PIECE, going.delegated);
      }
      const after = await records.replace(id, (record) =>
        mirror(record as Task, remote, going.delegated.refusal),
      );
      if (!after || isFinished(after)) going.end();
    },
  };
}
