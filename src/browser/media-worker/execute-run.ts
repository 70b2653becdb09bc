import { MediaError, toMediaError } from "../../media/errors.ts";
import type { Refusal } from "../../media/refusal.ts";
import { RunOver, runStep, runTask } from "../../runs/pipeline.ts";
import type { Durably, Report, StepWork } from "../../runs/ports.ts";
import { runErrorOf } from "../../runs/step.ts";
import { failOpenStep, isFinished, type RunEvent } from "../../runs/transitions.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import { sleep } from "../../util/async.ts";
import * as errors from "../errors.ts";
import type { Run } from "../media-api.ts";
import type { Delegation } from "./delegate.ts";
import { type RunRecords, type RunStores, typeOf } from "./run-records.ts";

export interface ExecuteRunTools {
  stores: RunStores;
  records: RunRecords;
  /** Creates the work of a run's steps; null while its file cannot be read. */
  work(record: Run): Promise<StepWork | null>;
  delegation: Delegation;
  tidy(record: Run): Promise<void>;
}

/**
 * Executes a run from its current state to its end, or until the signal aborts; resolves to false when its file cannot be
 * read. Never rejects.
 */
export async function executeRun(tools: ExecuteRunTools, id: string, signal: AbortSignal): Promise<boolean> {
  const { stores, records } = tools;
  try {
    const record = await stores.get(typeOf(id), id);
    if (!record) return true;
    if (!isFinished(record) && !(await run(tools, record, signal))) return false;
    const after = await stores.get(typeOf(id), id);
    if (!after) await tools.tidy({ ...record, status: "cancelled" });
    else if (isFinished(after)) await tools.tidy(after);
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) console.error(thrown);
    const record = await stores.get(typeOf(id), id).catch(() => null);
    const failure = runErrorOf(thrown instanceof MediaError ? thrown : errors.runBroken());
    // The store may be unable to return the record; then only a standalone step can fail.
    const event: RunEvent = record
      ? failOpenStep(record, failure)
      : { type: "step_failed", step_id: id, error: failure };
    const after = await records.apply(id, event).catch(() => null);
    if (after) await tools.tidy(after).catch(() => {});
  }
  return true;
}

async function run(tools: ExecuteRunTools, record: Run, signal: AbortSignal): Promise<boolean> {
  const { stores, records, delegation } = tools;
  const { id } = record;
  const delegated = await delegation.find(id);
  if (delegated !== null) return delegation.resume(id, delegated, signal);
  const work = await tools.work(record);
  if (!work) return false;
  let refusals: Refusal[] | null = null;
  const report: Report = async (event) => {
    if (signal.aborted) return false;
    if (event.type !== "step_failed" || event.error.kind !== "encoder_unavailable") {
      return (await records.apply(id, event)) !== null;
    }
    const { error } = event;
    if (delegation.takes(record)) {
      refusals = error.refusals ?? [];
      return false;
    }
    return (await records.apply(id, { ...event, error: delegation.explain(record, error) })) !== null;
  };
  const durably = createDurably(stores.pieces, id, signal);
  if (record.object === "task") await runTask(record, work, report, durably);
  else await runStep(record, id, work, report, durably);
  return refusals === null || signal.aborted || delegation.begin(id, refusals, signal);
}

const ATTEMPTS = 3;
const PAUSE_MS = 1000;

/**
 * Creates the {@link Durably} of a run: it stores the result of each step and returns it again after a reload. Retryable errors are
 * retried; an aborted signal ends the run.
 */
function createDurably(pieces: PieceStore, run_id: string, signal: AbortSignal): Durably {
  return async <T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const stored = await pieces.get(run_id, name);
    if (stored) return stored.value as T;
    for (let attempt = 1; ; attempt++) {
      if (signal.aborted) throw new RunOver();
      try {
        const value = await work(signal);
        // The files of a run that is over are being deleted.
        if (signal.aborted) throw new RunOver();
        await pieces.put(run_id, name, value);
        return value;
      } catch (thrown) {
        if (signal.aborted || thrown instanceof RunOver) throw new RunOver();
        const error = toRunError(thrown);
        if (!error.retryable || attempt === ATTEMPTS) throw error;
        await sleep(PAUSE_MS * attempt, signal).catch(() => {});
      }
    }
  };
}

function toRunError(thrown: unknown): MediaError {
  if (thrown instanceof Error && thrown.name === "QuotaExceededError") {
    return errors.storageFull({ cause: thrown });
  }
  const error = toMediaError(thrown);
  if (error.cause !== undefined && error.kind === "internal_error") console.error(error.cause);
  return error;
}
