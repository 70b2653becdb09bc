import type { Page } from "../../client/client.ts";
import { MediaError, toMediaError } from "../../media/errors.ts";
import type { Refusal } from "../../media/refusal.ts";
import * as runErrors from "../../runs/errors.ts";
import { createIds } from "../../runs/ids.ts";
import { RunOver, runStep, runTask } from "../../runs/pipeline.ts";
import type { Durably, Report, StepWork } from "../../runs/ports.ts";
import { runErrorOf } from "../../runs/step.ts";
import { clearMedia } from "../../runs/steps/media-keys.ts";
import type { Task } from "../../runs/task.ts";
import { failOpenStep, isFinished, type RunEvent } from "../../runs/transitions.ts";
import { StalledBody } from "../../storage/http/request.ts";
import type { PieceStore } from "../../stores/indexeddb.ts";
import { sleep } from "../../util/async.ts";
import * as errors from "../errors.ts";
import type { MediaApi, MediaEvent, MediaSettings, RecordType, Run } from "../media-api.ts";
import { createCleanup, sweep, sweepLock, tidyRun } from "./cleanup.ts";
import { createDelegation, type Delegation } from "./delegate.ts";
import { createInputFiles, findExtraFiles, runOfFile } from "./local-files.ts";
import { createLocalJobs } from "./local-jobs.ts";
import { parseLocalList } from "./local-requests.ts";
import { createLocalSamples } from "./local-samples.ts";
import { createRunCreation } from "./run-creation.ts";
import { createRunRecords, type RunRecords, type RunStores, typeOf } from "./run-records.ts";
import { createRunTurns } from "./run-turns.ts";
import { createRunUploads } from "./run-upload.ts";
import { createRunViews } from "./run-views.ts";
import { createRunWork, inputIdOf, type RunWorkTools, sharedInput } from "./run-work.ts";

export interface HostParts extends Omit<RunWorkTools, "files" | "uploads" | "pieces" | "shared"> {
  settings: MediaSettings;
  stores: RunStores;
  runs_at_once: number;
}

/** Creates the media worker's methods and resumes unfinished runs. `tell` sends events to the page. */
export function createMediaHost(
  parts: HostParts,
  tell: (event: MediaEvent) => void,
): Omit<MediaApi, "open" | "signed" | "drawn"> {
  const { settings, stores, storage, connections } = parts;
  const { pieces } = stores;
  const rules = { allowPrivate: settings.allowPrivate, allowed_hosts: [settings.host], connections };
  const newId = createIds(Math.random);
  const files = createInputFiles(stores.inputs, settings.keepInputBytes);
  const uploads = createRunUploads(connections, storage, pieces);
  const shared = (record: Run) => sharedInput(settings.name, pieces, record);

  const records = createRunRecords(settings.name, stores, (notice, own) => {
    if (notice.type === "resumed") return own ? undefined : turns.join(notice.id);
    tell(notice);
    if (notice.type === "removed") return;
    const { id } = notice.record;
    if (notice.record.status === "cancelled") turns.stop(id, new RunOver());
    // This tab takes over the run if the other one closes.
    else if (!own && notice.record.status === "queued") turns.join(id);
    void jobs.follow(notice.record).catch((thrown: unknown) => console.error(thrown));
  });
  const delegation = createDelegation({
    has_fallback: settings.fallback,
    records,
    pieces,
    tell,
    async fileOf(task) {
      const key = parts.urls.key(task.input);
      return key === null ? files.find(runOfFile(task.input) ?? inputIdOf(task)) : storage.file(key);
    },
    async extraFiles(task) {
      return new Map((await findExtraFiles(files, task)).map(({ param, blob }) => [param, blob]));
    },
  });
  const tools = {
    stores,
    records,
    delegation,
    tidy,
    work: (record: Run) =>
      createRunWork({ ...parts, files, uploads, pieces, shared, delegates: delegation.takes }, record),
  };
  const turns = createRunTurns(settings.name, parts.runs_at_once, async (id, signal) => {
    // `cancel` leaves the cleanup of a locked run to its turn.
    if (await jobs.isBlocked(id)) return async () => tidyEnded(id);
    if (await executeRun(tools, id, signal)) return;
    return () => waitForFile(typeOf(id), id);
  });

  const jobs = createLocalJobs({
    stores,
    storage,
    files,
    urls: parts.urls,
    records,
    rules,
    newId,
    cancel,
    remove,
    withoutSweep,
    join: turns.join,
  });

  const views = createRunViews({ stores, storage, records, files, turns, delegation });
  const creation = createRunCreation({
    ...parts,
    rules,
    newId,
    files,
    uploads,
    records,
    join: turns.join,
    inputOf: jobs.inputOf,
    withoutSweep,
  });

  function tidy(record: Run): Promise<void> {
    return tidyRun({ storage, pieces, uploads, delegation, tidyJob: jobs.tidy }, record);
  }

  async function tidyEnded(id: string): Promise<void> {
    const record = await stores.get(typeOf(id), id);
    if (record && isFinished(record)) await tidy(record);
  }

  // A sweep in another tab would delete pieces whose record is not stored yet.
  function withoutSweep<T>(work: () => Promise<T>): Promise<T> {
    return navigator.locks.request(sweepLock(settings.name), { mode: "shared" }, work);
  }

  async function waitForFile(type: RecordType, id: string): Promise<void> {
    const now = await views.state(type, id);
    const isOld = now.record.updated_at <= Date.now() - settings.keepSeconds * 1000;
    if (isOld && now.waiting?.for === "file" && now.waiting.reason === "gone") await cancel(type, id);
    else tell({ type: "changed", ...now });
  }

  async function refuseInner(type: RecordType, id: string, method: "cancel" | "delete"): Promise<void> {
    const task = await views.parentOf(type, id);
    if (task) throw errors.stepOfTask({ taskId: task.id, method });
  }

  async function cancel(type: RecordType, id: string): Promise<Run> {
    await refuseInner(type, id, "cancel");
    await records.get(type, id);
    const record = await records.apply(id, { type: "cancelled" });
    if (!record) throw runErrors.notCancellable(type);
    const remote = (await delegation.find(id))?.remote ?? null;
    if (remote !== null) tell({ type: "unfollow", id, remote });
    if (!(await turns.hasExecutor(id))) await tidy(record);
    return record;
  }

  async function remove(type: RecordType, id: string): Promise<void> {
    await refuseInner(type, id, "delete");
    const { job = null } = Object(await records.get(type, id)) as Partial<Task>;
    await records.remove(type, id, async () => {
      await uploads.drop(await views.find(id));
      await clearMedia(storage, id, ["work", "out"]);
      await files.remove(id);
      await pieces.clear(id);
    });
    if (job) await jobs.tidy(job.id);
  }

  const sweepTools = { settings, stores, storage, files, uploads, turns, tidy, tidyJob: jobs.tidy };
  void sweep(sweepTools).catch((thrown: unknown) => console.error(thrown));

  return {
    create: creation.create,
    get: views.get,
    state: views.state,
    list: async (type, options): Promise<Page<Run>> => stores.list(type, parseLocalList(type, options)),
    cancel,
    retry: creation.retry,
    remove,
    ...jobs.api,
    ...createLocalSamples({ ...parts, files }, rules),
    ...createCleanup({ settings, stores, storage, turns, cancel, remove, tidyJob: jobs.tidy }),
    files: views.files,
    waiting: async (id) => views.waitingFile(await views.find(id)),
    async resume(id, file) {
      const record = await views.find(id);
      if (isFinished(record)) throw errors.finished(record.object);
      const input_id = inputIdOf(record);
      if (file) await files.replace(input_id, file);
      else if (!(await files.find(input_id))) throw errors.fileUnreadable();
      for (const each of await jobs.siblings(record)) {
        turns.join(each);
        records.tell({ type: "resumed", id: each });
      }
      return record;
    },
    handle: async (id) => files.handle(inputIdOf(await views.find(id))),
    sending: delegation.sending,
    followed: delegation.followed,
  };
}

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
async function executeRun(tools: ExecuteRunTools, id: string, signal: AbortSignal): Promise<boolean> {
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
 * Creates the {@link Durably} of a run: it stores the result of each step and returns it again after a reload. It repeats steps that
 * fail with a retryable error, except when a source stalls; an aborted signal ends the run.
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
        // A stalled source has already used up its waiting time.
        if (!error.retryable || error.cause instanceof StalledBody || attempt === ATTEMPTS) throw error;
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
