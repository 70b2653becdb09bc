import type { Page } from "../client/client.ts";
import { outputSource } from "../client/output-source.ts";
import { MediaError } from "../core/errors.ts";
import { createIds, isId } from "../core/ids.ts";
import { parseListQuery } from "../core/lists.ts";
import { RunOver } from "../core/pipeline.ts";
import { createStep } from "../core/step.ts";
import { createTask, requestOf, type Task } from "../core/task.ts";
import { isFinished } from "../core/transitions.ts";
import { clearMedia, runFolder } from "../steps/media-keys.ts";
import { carryOut } from "./carry-out.ts";
import { createDelegation } from "./delegate.ts";
import { createInputFiles, nameOf } from "./input-files.ts";
import { parseLocalStep, parseLocalTask } from "./local-requests.ts";
import { fileUrl, isOpfsPath, openOpfsPath, ownFileUrl, runOfFile } from "./local-urls.ts";
import type { LocalFile, MediaApi, MediaEvent, MediaSettings, Run, Sort, Standing } from "./media-api.ts";
import { createRunRecords, sortOf } from "./run-records.ts";
import type { RunStores } from "./run-stores.ts";
import { createRunTurns } from "./run-turns.ts";
import { createRunUploads } from "./run-upload.ts";
import { createRunWork, type RunWorkTools } from "./run-work.ts";
import { sweep } from "./sweep.ts";

/** What the media worker is made of. */
export interface HostParts extends Omit<RunWorkTools, "files" | "uploads"> {
  settings: MediaSettings;
  stores: RunStores;
  /** Runs that are carried out at once, at most. */
  runs_at_once: number;
}

/** Builds what the page asks the media worker for; runs that were left open go on. `tell` reaches the page. */
export function createMediaHost(
  parts: HostParts,
  tell: (event: MediaEvent) => void,
): Omit<MediaApi, "open" | "signed"> {
  const { settings, stores, storage } = parts;
  const { connections } = parts;
  const rules = { allow_private: settings.allow_private, allowed_hosts: [settings.host], connections };
  const newId = createIds(Math.random);
  const files = createInputFiles(stores.inputs, settings.keep_input_bytes);
  const uploads = createRunUploads(connections, storage, stores.pieces);

  const records = createRunRecords(settings.name, stores, (notice, own) => {
    if (notice.type === "resumed") return own ? undefined : turns.join(notice.id);
    tell(notice);
    if (notice.type === "removed") return;
    const { id } = notice.record;
    if (notice.record.status === "cancelled") turns.stop(id, new RunOver());
    // A run that another tab began is taken over when that tab closes.
    else if (!own && notice.record.status === "queued") turns.join(id);
  });
  const delegation = createDelegation(settings.fallback, records, stores.pieces, tell);
  const tools = {
    ...{ stores, records, delegation, tidy },
    work: (record: Run) => createRunWork({ ...parts, files, uploads }, record),
  };
  const turns = createRunTurns(settings.name, parts.runs_at_once, async (id, signal) => {
    if (await carryOut(tools, id, signal)) return;
    // Nothing changed but that it waits, which the page asks for when it is told.
    return async () => tell({ type: "changed", ...(await standing(sortOf(id), id)) });
  });

  async function tidy(record: Run): Promise<void> {
    const { id, status } = record;
    // A retry goes on with it.
    if (uploads.isLeft(record)) return clearMedia(storage, id, ["work"]);
    await clearMedia(storage, id, status === "succeeded" ? ["work"] : ["work", "out"]);
    if (status !== "succeeded") await uploads.drop(record);
    if ((await delegation.find(id)) === null) await stores.pieces.clear(id);
  }

  /** Begins a run when all that belongs to it is there; where there is no room for it, nothing of it stays. */
  async function begin(record: Run, prepare: () => Promise<void>): Promise<Run> {
    const { id } = record;
    try {
      await prepare();
      await records.add(record);
    } catch (thrown) {
      await Promise.allSettled([files.remove(id), clearMedia(storage, id, ["out"]), stores.pieces.clear(id)]);
      throw thrown;
    }
    turns.join(id);
    return record;
  }

  /** The visitor's file behind a request, and how its URL is written; null for what is no file of this machine. */
  async function localInput(request: unknown, given: LocalFile | null) {
    const input: unknown = Object(request).input;
    const url: unknown = typeof input === "object" && input !== null ? Reflect.get(input, "url") : input;
    if (given) return { file: given, url: null };
    if (isOpfsPath(url)) return { file: parts.urls.key(url) === null ? await openOpfsPath(url) : null, url };
    return typeof url === "string" && runOfFile(url) !== null ? { file: null, url } : null;
  }

  async function create(sort: Sort, request: unknown, given: LocalFile | null): Promise<Run> {
    const local = await localInput(request, given);
    const now = Date.now();
    const record = sort === "task" ? createTaskOf() : createStepOf();
    return begin(record, async () => {
      if (local?.file) await files.add(record.id, local.file);
    });

    function createTaskOf(): Task {
      const url = local && (local.url ?? fileUrl(given ? nameOf(given) : ""));
      return createTask(parseLocalTask(request, url, rules), newId, now);
    }

    function createStepOf(): Run {
      const { kind, input, options } = parseLocalStep(request, local && (local.url ?? "file:"), rules);
      const step = createStep(kind, newId, now, { input, options });
      const url = given ? ownFileUrl(nameOf(given), step.id) : input.url;
      return { ...step, input: { ...input, url } };
    }
  }

  async function find(id: string): Promise<Run> {
    return records.get(sortOf(id), id);
  }

  async function get(sort: Sort, id: string): Promise<Run> {
    const task = sort === "step" && !(await stores.get("step", id)) ? await parentOf(id) : null;
    return task?.steps.find((step) => step.id === id) ?? records.get(sort, id);
  }

  async function standing(sort: Sort, id: string): Promise<Standing> {
    const [record, choice] = await Promise.all([get(sort, id), records.choice(id)]);
    return { record, choice };
  }

  async function parentOf(id: string): Promise<Task | null> {
    if (!isId("step", id)) return null;
    const all = await stores.all();
    return (all.find((run) => run.object === "task" && run.steps.some((step) => step.id === id)) ??
      null) as Task | null;
  }

  void sweep({ settings, stores, storage, files, turns, tidy }).catch((thrown: unknown) =>
    console.error(thrown),
  );

  return {
    create,
    get,
    standing,
    list: async (sort, options): Promise<Page<Run>> =>
      stores.list(sort, parseListQuery(sort, givenOf(options))),
    async cancel(sort, id) {
      const task = sort === "step" ? await parentOf(id) : null;
      if (task) {
        const message = `The step belongs to a task; cancel that: tasks.cancel("${task.id}").`;
        throw new MediaError("request_invalid", message);
      }
      await records.get(sort, id);
      const record = await records.apply(id, { type: "cancelled" });
      if (!record) {
        throw new MediaError(`${sort}_finished`, `The ${sort} is finished and cannot be cancelled.`);
      }
      // What is done elsewhere is cancelled there, too, whether or not a tab follows it just now.
      const remote = (await delegation.find(id))?.remote ?? null;
      if (remote !== null) tell({ type: "unfollow", id, remote });
      // A run that was being carried out is tidied up by whoever did so.
      if (!(await turns.isTaken(id))) await tidy(record);
      return record;
    },
    async retry(id) {
      const before = await records.get("task", id);
      if (!isFinished(before)) throw new MediaError("task_running", "The task still runs; cancel it first.");
      const request = requestOf(before as Task);
      const local = (await files.has(id)) || isOpfsPath(request.input);
      const task = createTask(
        parseLocalTask(request, local ? request.input : null, rules),
        newId,
        Date.now(),
      );
      await begin(task, async () => {
        await files.copy(id, task.id);
        if (uploads.isLeft(before)) await uploads.takeOver(before as Task, task);
      });
      return task;
    },
    remove: (id) =>
      records.remove(id, async () => {
        await uploads.drop(await find(id));
        await clearMedia(storage, id, ["work", "out"]);
        await files.remove(id);
        await stores.pieces.clear(id);
      }),
    async files(id) {
      const record = await find(id);
      const source = outputSource(record);
      const remote = (await delegation.find(id))?.remote ?? null;
      if (remote !== null) return { source, remote, files: [] };
      const folder = runFolder("out", id);
      const found = await storage.files(folder);
      return {
        source,
        remote,
        files: found.map(({ key, file }) => ({ name: key.slice(folder.length), file })),
      };
    },
    async waiting(id) {
      const record = await find(id);
      if (isFinished(record) || !(await files.has(id)) || (await turns.isTaken(id))) return null;
      return (await files.find(id)) ? null : files.missing(id);
    },
    async resume(id, file) {
      const record = await find(id);
      if (isFinished(record)) {
        throw new MediaError(`${record.object}_finished`, `The ${record.object} is finished.`);
      }
      if (file) await files.replace(id, file);
      else if (!(await files.find(id))) {
        throw new MediaError("input_unreachable", "The file of the run cannot be read.", {
          retryable: false,
        });
      }
      turns.join(id);
      records.tell({ type: "resumed", id });
      return record;
    },
    async handle(id) {
      await find(id);
      return files.handle(id);
    },
    followed: delegation.followed,
  };
}

// An option that is given as undefined is not given.
function givenOf(options: unknown): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(options ?? {}).filter(([, value]) => value !== undefined));
}
