import type { Page } from "../../client/client.ts";
import { nameOf } from "../../client/media-input.ts";
import { outputSource } from "../../client/methods.ts";
import type { WaitingFile } from "../../client/update.ts";
import { importContentKey } from "../../encoders/run/encrypt-segments.ts";
import { keyIn, parseBlock } from "../../media/features/encryption.ts";
import { createIds, isId } from "../../runs/ids.ts";
import { RunOver } from "../../runs/pipeline.ts";
import { createStep } from "../../runs/step.ts";
import { clearMedia, runFolder } from "../../runs/steps/media-keys.ts";
import { createTask, requestOf, type Task } from "../../runs/task.ts";
import { isFinished } from "../../runs/transitions.ts";
import * as errors from "../errors.ts";
import type {
  LocalFile,
  MediaApi,
  MediaEvent,
  MediaSettings,
  RecordType,
  Run,
  RunState,
} from "../media-api.ts";
import { createCleanup, creationLock, sweep, sweepLock, tidyRun } from "./cleanup.ts";
import { createDelegation } from "./delegate.ts";
import { executeRun } from "./execute-run.ts";
import {
  createInputFiles,
  extraFileId,
  fileUrl,
  findExtraFiles,
  findLocalInput,
  isOpfsPath,
  numberExtraFiles,
  ownFileUrl,
  runOfFile,
} from "./local-files.ts";
import { createLocalJobs } from "./local-jobs.ts";
import { parseLocalList, parseLocalStep, parseLocalTask } from "./local-requests.ts";
import { createRunRecords, type RunStores, typeOf } from "./run-records.ts";
import { createRunTurns } from "./run-turns.ts";
import { createRunUploads } from "./run-upload.ts";
import { CONTENT_KEY, createRunWork, inputIdOf, type RunWorkTools, sharedInput } from "./run-work.ts";

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
    work: (record: Run) => createRunWork({ ...parts, files, uploads, pieces, shared }, record),
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

  /** Stores a run with its files, then starts it; leaves nothing behind when storage is full. */
  async function begin(record: Run, prepare: () => Promise<void>): Promise<Run> {
    const { id } = record;
    await navigator.locks.request(creationLock(settings.name, id), async () => {
      try {
        await prepare();
        await records.add(record);
      } catch (thrown) {
        await Promise.allSettled([files.remove(id), clearMedia(storage, id, ["out"]), pieces.clear(id)]);
        throw thrown;
      }
    });
    turns.join(id);
    return record;
  }

  async function create(
    type: RecordType,
    body: unknown,
    file: LocalFile | null,
    extra: ReadonlyMap<string, LocalFile>,
  ): Promise<Run> {
    const { request, files: extraFiles } = numberExtraFiles(body, extra);
    const local = await findLocalInput(request, file, parts.urls);
    const now = Date.now();
    const record = type === "task" ? createTaskOf() : createStepOf();
    const content_key = keyIn(request);
    const start = () => begin(record, prepare);
    return content_key === null ? start() : withoutSweep(start);

    async function prepare(): Promise<void> {
      if (content_key !== null)
        await pieces.put(record.id, CONTENT_KEY, await importContentKey(parseBlock(content_key)));
      if (local?.file) await files.add(record.id, local.file);
      for (const [at, file] of extraFiles) await files.add(extraFileId(record.id, at), file);
    }

    function createTaskOf(): Task {
      const url = local && (local.url ?? fileUrl(file ? nameOf(file) : ""));
      return createTask(parseLocalTask(request, url, rules), newId, now);
    }

    function createStepOf(): Run {
      const { webhook_url: _, ...start } = parseLocalStep(request, local && (local.url ?? "file:"), rules);
      const step = createStep(start, newId, now);
      const url = file ? ownFileUrl(nameOf(file), step.id) : start.input.url;
      return { ...step, input: { ...start.input, url } };
    }
  }

  const find = async (id: string): Promise<Run> => records.get(typeOf(id), id);

  async function get(type: RecordType, id: string): Promise<Run> {
    const task = type === "step" && !(await stores.get("step", id)) ? await parentOf(id) : null;
    return task?.steps.find((step) => step.id === id) ?? records.get(type, id);
  }

  async function stateOf(type: RecordType, id: string): Promise<RunState> {
    const [record, choice] = await Promise.all([get(type, id), records.choice(id)]);
    const file = await waitingFile(record);
    return { record, choice, ...(file && { waiting: { for: "file", ...file } }) };
  }

  async function waitingFile(record: Run): Promise<WaitingFile | null> {
    const id = inputIdOf(record);
    if (isFinished(record) || !(await files.has(id)) || (await turns.hasExecutor(record.id))) return null;
    return (await files.find(id)) ? null : files.missing(id);
  }

  async function waitForFile(type: RecordType, id: string): Promise<void> {
    const now = await stateOf(type, id);
    const isOld = now.record.updated_at <= Date.now() - settings.keepSeconds * 1000;
    if (isOld && now.waiting?.for === "file" && now.waiting.reason === "gone") await cancel(type, id);
    else tell({ type: "changed", ...now });
  }

  async function parentOf(id: string): Promise<Task | null> {
    if (!isId("step", id)) return null;
    const all = await stores.all();
    return (all.find((run) => run.object === "task" && run.steps.some((step) => step.id === id)) ??
      null) as Task | null;
  }

  async function refuseInner(type: RecordType, id: string, method: "cancel" | "delete"): Promise<void> {
    const task = type === "step" && !(await stores.get("step", id)) ? await parentOf(id) : null;
    if (task) throw errors.stepOfTask({ taskId: task.id, method });
  }

  async function cancel(type: RecordType, id: string): Promise<Run> {
    await refuseInner(type, id, "cancel");
    await records.get(type, id);
    const record = await records.apply(id, { type: "cancelled" });
    if (!record) throw errors.notCancellable(type);
    const remote = (await delegation.find(id))?.remote ?? null;
    if (remote !== null) tell({ type: "unfollow", id, remote });
    if (!(await turns.hasExecutor(id))) await tidy(record);
    return record;
  }

  async function remove(type: RecordType, id: string): Promise<void> {
    await refuseInner(type, id, "delete");
    const { job = null } = Object(await records.get(type, id)) as Partial<Task>;
    await records.remove(type, id, async () => {
      await uploads.drop(await find(id));
      await clearMedia(storage, id, ["work", "out"]);
      await files.remove(id);
      await pieces.clear(id);
    });
    if (job) await jobs.tidy(job.id);
  }

  const sweepTools = { settings, stores, storage, files, uploads, turns, tidy, tidyJob: jobs.tidy };
  void sweep(sweepTools).catch((thrown: unknown) => console.error(thrown));

  return {
    create,
    get,
    state: stateOf,
    list: async (type, options): Promise<Page<Run>> => stores.list(type, parseLocalList(type, options)),
    cancel,
    async retry(id) {
      const before = (await records.get("task", id)) as Task;
      if (!isFinished(before)) throw errors.running("task");
      const request = { ...requestOf(before), input: await jobs.inputOf(before) };
      const input_id = inputIdOf(before);
      const local = (await files.has(input_id)) || isOpfsPath(request.input);
      const task = createTask(
        parseLocalTask(request, local ? request.input : null, rules),
        newId,
        Date.now(),
      );
      const canTakeOver = uploads.lacksOnlyUpload(before);
      const start = () =>
        begin(task, async () => {
          for (const from of new Set([input_id, id])) await files.copy(from, task.id);
          if (canTakeOver) await uploads.takeOver(before, task);
        });
      await (canTakeOver ? withoutSweep(start) : start());
      return task;
    },
    remove,
    ...jobs.api,
    ...createCleanup({ settings, stores, storage, turns, cancel, remove, tidyJob: jobs.tidy }),
    async files(id) {
      const record = await find(id);
      const source = outputSource(record);
      const remote = (await delegation.find(id))?.remote ?? null;
      if (remote !== null) return { source, remote, files: [] };
      const folder = runFolder("out", id);
      const stored = await storage.files(folder);
      return {
        source,
        remote,
        files: stored.map(({ key, file }) => ({ name: key.slice(folder.length), file })),
      };
    },
    waiting: async (id) => waitingFile(await find(id)),
    async resume(id, file) {
      const record = await find(id);
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
    handle: async (id) => files.handle(inputIdOf(await find(id))),
    sending: delegation.sending,
    followed: delegation.followed,
  };
}
