import { MediaError } from "../core/errors.ts";
import { runStep, runTask } from "../core/pipeline.ts";
import type { Report, StepWork } from "../core/ports.ts";
import { isFinished, type RunEvent } from "../core/transitions.ts";
import type { Delegation } from "./delegate.ts";
import { createDurably } from "./durably.ts";
import type { Run } from "./media-api.ts";
import type { RunRecords } from "./run-records.ts";
import { sortOf } from "./run-records.ts";
import type { RunStores } from "./run-stores.ts";

/** What runs are carried out with. */
export interface CarryOutTools {
  stores: RunStores;
  records: RunRecords;
  /** Builds the work of a run's steps; null while its file is not there. */
  work(record: Run): Promise<StepWork | null>;
  delegation: Delegation;
  /** Clears what a run that is over does not need any more. */
  tidy(record: Run): Promise<void>;
}

/** Carries a run out from where it stands to its end, or as far as its signal lets it; gives false where its file is not there. Never rejects. */
export async function carryOut(tools: CarryOutTools, id: string, signal: AbortSignal): Promise<boolean> {
  const { stores, records } = tools;
  try {
    const record = await stores.get(sortOf(id), id);
    if (!record) return true;
    if (!isFinished(record) && !(await run(tools, record, signal))) return false;
    const after = await stores.get(sortOf(id), id);
    if (!after) await tools.tidy({ ...record, status: "cancelled" });
    else if (isFinished(after)) await tools.tidy(after);
  } catch (thrown) {
    // The machinery itself failed, such as a store that is full: a run must not hang for it.
    const broken = new MediaError("internal_error", "The run broke off; create it again.");
    const error = thrown instanceof MediaError ? thrown : broken;
    if (error === broken) console.error(thrown);
    const { kind, message, retryable } = error;
    const record = await stores.get(sortOf(id), id).catch(() => null);
    const open = record?.object === "task" ? record.steps.find((step) => !isFinished(step)) : record;
    const event: RunEvent = {
      type: "step_failed",
      step_id: open?.id ?? id,
      error: { kind, message, retryable },
    };
    const after = await records.apply(id, event).catch(() => null);
    if (after) await tools.tidy(after).catch(() => {});
  }
  return true;
}

async function run(tools: CarryOutTools, record: Run, signal: AbortSignal): Promise<boolean> {
  const { stores, records, delegation } = tools;
  const { id } = record;
  const known = await delegation.find(id);
  if (known !== null) {
    await delegation.carryOn(id, known, signal);
    return true;
  }
  const work = await tools.work(record);
  if (!work) return false;
  let refusal: string | null = null;
  const report: Report = async (event) => {
    if (signal.aborted) return false;
    if (
      event.type === "step_failed" &&
      event.error.kind === "encoder_unavailable" &&
      delegation.takes(record)
    ) {
      refusal = event.error.message;
      return false;
    }
    const after = await records.apply(id, event);
    return after !== null;
  };
  const durably = createDurably(stores.pieces, id, signal);
  if (record.object === "task") await runTask(record, work, report, durably);
  else await runStep(record, id, work, report, durably);
  if (refusal !== null && !signal.aborted) await delegation.begin(id, refusal, signal);
  return true;
}
