import { nameOf } from "../../client/media-input.ts";
import { importContentKey } from "../../encoders/run/encrypt-segments.ts";
import { keyIn, parseBlock } from "../../media/features/encryption.ts";
import * as runErrors from "../../runs/errors.ts";
import { createStep } from "../../runs/step.ts";
import { clearMedia } from "../../runs/steps/media-keys.ts";
import { createTask, requestOf, type Task } from "../../runs/task.ts";
import { isFinished } from "../../runs/transitions.ts";
import type { LocalFile, MediaSettings, RecordType, Run } from "../media-api.ts";
import { creationLock } from "./cleanup.ts";
import {
  extraFileId,
  fileUrl,
  findLocalInput,
  isOpfsPath,
  numberExtraFiles,
  ownFileUrl,
} from "./local-files.ts";
import type { LocalJobs, LocalJobTools } from "./local-jobs.ts";
import { parseLocalStep, parseLocalTask } from "./local-requests.ts";
import type { RunUploads } from "./run-upload.ts";
import { CONTENT_KEY, inputIdOf } from "./run-work.ts";

export interface RunCreationParts
  extends Pick<
    LocalJobTools,
    "stores" | "storage" | "files" | "urls" | "records" | "rules" | "newId" | "withoutSweep" | "join"
  > {
  settings: Pick<MediaSettings, "name">;
  uploads: RunUploads;
  inputOf: LocalJobs["inputOf"];
}

/** Creates the runs of a media worker, and repeats finished ones. */
export function createRunCreation(parts: RunCreationParts) {
  const { settings, stores, storage, urls, rules, newId, files, uploads, records } = parts;
  const { join, inputOf, withoutSweep } = parts;
  const { pieces } = stores;

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
    join(id);
    return record;
  }

  async function create(
    type: RecordType,
    body: unknown,
    file: LocalFile | null,
    extra: ReadonlyMap<string, LocalFile>,
  ): Promise<Run> {
    const { request, files: extraFiles } = numberExtraFiles(body, extra);
    const local = await findLocalInput(request, file, urls);
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

  async function retry(id: string): Promise<Task> {
    const before = (await records.get("task", id)) as Task;
    if (!isFinished(before)) throw runErrors.running("task");
    const request = { ...requestOf(before), input: await inputOf(before) };
    const input_id = inputIdOf(before);
    const local = (await files.has(input_id)) || isOpfsPath(request.input);
    const task = createTask(parseLocalTask(request, local ? request.input : null, rules), newId, Date.now());
    const canTakeOver = uploads.lacksOnlyUpload(before);
    const start = () =>
      begin(task, async () => {
        for (const from of new Set([input_id, id])) await files.copy(from, task.id);
        if (canTakeOver) await uploads.takeOver(before, task);
      });
    await (canTakeOver ? withoutSweep(start) : start());
    return task;
  }

  return { create, retry };
}
