import type { UploadProgress } from "../../client/update.ts";
import type { FallbackFault } from "../../media/errors.ts";
import { mapExtraInputs } from "../../media/extra-inputs.ts";
import { isEncrypted } from "../../media/features/encryption.ts";
import type { Refusal } from "../../media/refusal.ts";
import { describeRefusals } from "../../media/words.ts";
import type { RunError, Step } from "../../runs/step.ts";
import { requestOf, type Task } from "../../runs/task.ts";
import { failOpenStep, isFinished } from "../../runs/transitions.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import { fallbackFaults } from "../errors.ts";
import type { MediaApi, MediaEvent, Run } from "../media-api.ts";
import type { RunRecords } from "./run-records.ts";

/** Delegates tasks that no local encoder can do to the fallback, which the page reaches; the records stay here. */
export interface Delegation {
  /** Returns whether a run may be delegated: there is a fallback, and the run is a task. */
  takes(record: Run): boolean;
  /** Adds to a run's error the reason why the fallback, if any, does not do it either. */
  explain(record: Run, error: Fault): Fault;
  /** Returns the delegation of a run; null when the run is not delegated. */
  find(run_id: string): Promise<DelegatedTask | null>;
  /** Creates the task at the fallback and follows it to its end. */
  begin(run_id: string, refusals: Refusal[], signal: AbortSignal): Promise<boolean>;
  /** Follows a delegated task to its end; resolves to false when its file has yet to be sent and cannot be read. */
  resume(run_id: string, delegated: DelegatedTask, signal: AbortSignal): Promise<boolean>;
  /** Receives the progress of the upload of a run's file. */
  sending(id: string, upload: UploadProgress): Promise<void>;
  /** Receives the state of the fallback's task. */
  followed(...args: Parameters<MediaApi["followed"]>): Promise<void>;
}

export interface DelegatedTask {
  /** The task's id at the fallback; null until it is stored here. */
  remote: string | null;
  /** Refusals of the local encoders. */
  refusals: Refusal[];
}

const PIECE = "delegated";

type Fault = Omit<RunError, "step_id">;

function withFallback(error: Fault, fallback: FallbackFault, detail = ""): Fault {
  return { ...error, message: `${error.message} ${fallbackFaults[fallback]}${detail}`, fallback };
}

function unavailable(refusals: Refusal[]): Fault {
  return { kind: "encoder_unavailable", message: describeRefusals(refusals), retryable: false, refusals };
}

export interface DelegationParts {
  has_fallback: boolean;
  records: RunRecords;
  pieces: PieceStore;
  /** Returns a task's file on this machine; null when it cannot be read. */
  fileOf(task: Task): Promise<Blob | null>;
  /** Returns a task's extra files by the paths of their URLs in the request. */
  extraFiles(task: Task): Promise<ReadonlyMap<string, Blob>>;
  tell(event: MediaEvent): void;
}

export function createDelegation(parts: DelegationParts): Delegation {
  const { has_fallback, records, pieces, fileOf, extraFiles, tell } = parts;
  const ends = new Map<string, { delegated: DelegatedTask; end(): void }>();

  const find = async (id: string) => ((await pieces.get(id, PIECE))?.value ?? null) as DelegatedTask | null;

  async function resume(id: string, delegated: DelegatedTask, signal: AbortSignal): Promise<boolean> {
    const record = (await records.get("task", id)) as Task;
    if (!has_fallback) {
      await failOpen(record, withFallback(unavailable(delegated.refusals), "missing"));
      return true;
    }
    const { remote } = delegated;
    const isSent = remote === null && !/^(https?|s3):/i.test(record.input);
    const file = isSent ? await fileOf(record) : null;
    if (isSent && !file) return false;
    const extra = remote === null ? await extraFiles(record) : new Map<string, Blob>();
    const request = mapExtraInputs(requestOf(record), (url, _, param) => extra.get(param) ?? url);
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(id, { delegated, end: resolve });
    const aborted = () => {
      tell({ type: "unfollow", id, remote: delegated.remote });
      resolve();
    };
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) {
      ends.delete(id);
      aborted();
      return true;
    }
    tell({ type: "follow", id, request, remote, file });
    await promise;
    signal.removeEventListener("abort", aborted);
    ends.delete(id);
    return true;
  }

  async function failOpen(record: Run, error: Fault): Promise<void> {
    await records.apply(record.id, failOpenStep(record, error));
  }

  return {
    // An encryption key is not extractable, so it cannot be sent to a service.
    takes: (record) => has_fallback && record.object === "task" && !isEncrypted(record),
    explain: (record, error) =>
      has_fallback && record.object === "step" ? withFallback(error, "standalone_step") : error,
    find,
    async begin(id, refusals, signal) {
      const delegated: DelegatedTask = { remote: null, refusals };
      await pieces.put(id, PIECE, delegated);
      await records.choose(id, null);
      return resume(id, delegated, signal);
    },
    resume,
    async sending(id, upload) {
      if (ends.has(id)) await records.sending(id, upload);
    },
    async followed(id, state) {
      const open = ends.get(id);
      if (!open) return;
      if ("error" in state && !("steps" in state)) {
        const { message, refusals } = unavailable(open.delegated.refusals);
        const fault = withFallback(
          { ...state.error, message, refusals },
          "failed",
          ` ${state.error.message}`,
        );
        await failOpen(await records.get("task", id), fault);
        return open.end();
      }
      const remote = state as Task;
      if (open.delegated.remote === null) {
        open.delegated.remote = remote.id;
        await pieces.put(id, PIECE, open.delegated);
      }
      const after = await records.replace(id, (record) =>
        mirror(record as Task, remote, open.delegated.refusals),
      );
      if (!after || isFinished(after)) open.end();
    },
  };
}

/**
 * Copies the state of the fallback's task to the local task, which keeps its ids and creation times and adds the local encoders'
 * refusals. Nothing moves backwards: a task or step that is ahead here waits until the other catches up.
 */
export function mirror(task: Task, other: Task, refusals: readonly Refusal[]): Task {
  const steps = task.steps.map((step, index) => follow(step, other.steps[index], refusals));
  const { output, started_at, finished_at } = other;
  const updated_at = Math.max(other.updated_at, task.updated_at + 1);
  const times = { started_at: task.started_at ?? started_at, finished_at, updated_at };
  const status = other.status === "queued" ? task.status : other.status;
  if (!other.error) return { ...task, ...times, status, output, error: null, steps };
  const failed = other.steps.findIndex(({ id }) => id === other.error?.step_id);
  const { step_id: _, ...error } = other.error;
  // A step that succeeded here may fail there; the open step here then takes the failure.
  const open = task.steps[failed] && !isFinished(task.steps[failed]) ? failed : task.steps.findIndex(isOpen);
  const own = steps[open];
  if (!own) return { ...task, ...times, status, output, error, steps };
  return {
    ...task,
    ...times,
    status,
    output,
    error: { ...error, step_id: own.id },
    steps: steps.with(open, { ...own, status: "failed", error, finished_at }),
  };
}

function follow(step: Step, other: Step | undefined, refusals: readonly Refusal[]): Step {
  if (!other || isFinished(step) || (step.status === "processing" && other.status === "waiting")) return step;
  const { id, created_at } = step;
  const output = other.output?.encoder
    ? { ...other.output, refusals: [...refusals, ...(other.output.refusals ?? [])] }
    : other.output;
  const progress =
    step.progress === null ? other.progress : Math.max(step.progress, other.progress ?? step.progress);
  return { ...other, id, created_at, output, progress, started_at: step.started_at ?? other.started_at };
}

function isOpen(step: Step): boolean {
  return !isFinished(step);
}
