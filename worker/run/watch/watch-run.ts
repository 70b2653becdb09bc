import type { MediaError } from "../../../src/media/errors.ts";
import { isFinished, type RunEvent } from "../../../src/runs/transitions.ts";
import { errors } from "../../errors.ts";
import { instanceStatus, UNKNOWN, wakeInstance } from "../../instance.ts";
import { serviceSettings } from "../../settings/service-settings.ts";
import type { RunRow } from "../run-row.ts";
import type { RunRows } from "../run-rows.ts";
import { failureOf, judgeRun, watchTimes } from "./watch.ts";

/** Looks after a run that is silent or makes no progress: wakes it, or fails it by an event that `apply` takes. */
export async function watchRun(
  env: Bindings,
  rows: RunRows,
  apply: (row: RunRow, event: RunEvent) => Promise<unknown>,
): Promise<void> {
  const fail = async (error: MediaError) => {
    const current = rows.get();
    if (current) await apply(current, failureOf(current.record, error));
  };
  const row = rows.get();
  if (!row) return;
  const finding = judgeRun(row, watchTimes(serviceSettings(env)), Date.now());
  if (finding === "well") return;
  if (finding === "stalled") return fail(errors.runStalled());
  const status = await instanceStatus(env, row.record.id);
  const ended = status === null || status === "errored" || status === "terminated" || status === "complete";
  // The record may have been finished while the status was asked for.
  const current = rows.get();
  if (!current || isFinished(current.record)) return;
  const now = Date.now();
  // A crash came between the creation of the instance and the moment when the engine kept it: it is created again.
  const unborn = status === null && current.record.status === "queued" && finding !== "lost";
  if (unborn) return rows.update({ started: 0, heard_at: now, wakes: row.wakes + 1 });
  if (ended || finding === "lost") return fail(errors.runLost());
  // A run that waits its turn has nothing to say yet, however long that takes.
  const waits = status === "queued";
  // One that cannot be asked about now is lost only if it stays silent.
  if (!waits && status !== UNKNOWN) await wakeInstance(env, row.record.id, status);
  rows.update({ heard_at: now, progressed_at: now, wakes: waits ? 0 : row.wakes + 1 });
}
