import type { Page } from "../../client/client.ts";
import type { UploadProgress } from "../../client/update.ts";
import { type ErrorKind, MediaError, toMediaError } from "../../media/errors.ts";
import { FORMATS } from "../../media/formats.ts";
import type { EncoderChoice } from "../../media/refusal.ts";
import * as runErrors from "../../runs/errors.ts";
import type { ListQuery } from "../../runs/lists.ts";
import { applyToStep, applyToTask, isFinished, type RunEvent } from "../../runs/transitions.ts";
import type { InputStore, JobStore, PieceStore } from "../../stores/indexeddb.ts";
import * as errors from "../errors.ts";
import { channelOf, type RecordType, type Run, type RunState } from "../media-api.ts";

export type Notice =
  | ({ type: "changed" } & RunState)
  | { type: "removed"; id: string }
  | { type: "resumed"; id: string };

/** The records of runs. Any tab may change them, one change at a time, and all tabs are notified. */
export interface RunRecords {
  /** Rejects with `task_not_found` or `step_not_found`. */
  get(type: RecordType, id: string): Promise<Run>;
  add(record: Run): Promise<void>;
  /** Applies an event to a record; null when it is finished or deleted and the event comes too late. */
  apply(id: string, event: RunEvent): Promise<Run | null>;
  /** Stores the encoder chosen for a run, or null to clear it; returns what {@link RunRecords.apply} does. */
  choose(id: string, choice: EncoderChoice | null): Promise<Run | null>;
  /** Returns the encoder chosen for an unfinished run; null while there is none. */
  choice(id: string): Promise<EncoderChoice | null>;
  /** Announces the progress of the upload of an unfinished run's file to the fallback. */
  sending(id: string, upload: UploadProgress): Promise<void>;
  /** Replaces an unfinished record; null when it is finished or deleted. */
  replace(id: string, change: (record: Run) => Run): Promise<Run | null>;
  /**
   * Removes a finished record after `clear` has removed its files; rejects as `get` does, or with `task_running` or `step_running`.
   */
  remove(type: RecordType, id: string, clear: () => Promise<void>): Promise<void>;
  /** Sends a message to all tabs, this one included. */
  tell(notice: Notice): void;
}

const CHOICE = "choice";

type Progressed = Extract<RunEvent, { type: "step_progressed" }>;

/** Creates the records on top of their stores; `hear` receives the messages of this tab and of all others. */
export function createRunRecords(
  name: string,
  stores: RunStores,
  onNotice: (notice: Notice, own: boolean) => void,
): RunRecords {
  const idling = new Set<string>();
  const channel = new BroadcastChannel(channelOf(name));
  channel.addEventListener("message", (event) => onNotice((event as MessageEvent<Notice>).data, false));

  function tell(notice: Notice): void {
    onNotice(notice, true);
    channel.postMessage(notice);
  }

  async function withLock<T>(id: string, work: () => Promise<T>): Promise<T> {
    return navigator.locks.request(`${name} record ${id}`, work) as Promise<T>;
  }

  const choiceOf = async (id: string) =>
    ((await stores.pieces.get(id, CHOICE))?.value ?? null) as EncoderChoice | null;

  async function replace(id: string, change: (record: Run) => Run): Promise<Run | null> {
    return withLock(id, async () => {
      const before = await stores.get(typeOf(id), id);
      if (!before || isFinished(before)) return null;
      const record = change(before);
      if (record !== before) {
        await stores.put(record);
        tell({ type: "changed", record, choice: await choiceOf(id) });
      }
      return record;
    });
  }

  async function choose(id: string, choice: EncoderChoice | null): Promise<Run | null> {
    return withLock(id, async () => {
      const record = await stores.get(typeOf(id), id);
      if (!record || isFinished(record)) return null;
      await stores.pieces.put(id, CHOICE, choice);
      tell({ type: "changed", record, choice });
      return record;
    });
  }

  // Records do not state the wait, so it is announced repeatedly for new watchers.
  async function idle(id: string, { step_id }: Progressed): Promise<Run | null> {
    const record = await stores.get(typeOf(id), id);
    if (!record || isFinished(record)) return null;
    const steps = record.object === "task" ? record.steps : [record];
    if (!steps.some((step) => step.id === step_id && step.kind in FORMATS)) return record;
    idling.add(id);
    tell({ type: "changed", record, choice: await choiceOf(id), waiting: { for: "encoder" } });
    return record;
  }

  async function progress(id: string, event: Progressed): Promise<Run | null> {
    const after = await replace(id, (record) => change(record, event));
    if (idling.delete(id) && after) tell({ type: "changed", record: after, choice: await choiceOf(id) });
    return after;
  }

  async function get(type: RecordType, id: string): Promise<Run> {
    const record = typeOf(id) === type ? await stores.get(type, id) : null;
    if (!record) throw errors.notFound(type);
    return record;
  }

  return {
    async add(record) {
      await stores.put(record);
      tell({ type: "changed", record, choice: null });
    },
    async apply(id, event) {
      if (event.type === "encoder_chosen") return choose(id, event.choice);
      if (event.type !== "step_progressed") return replace(id, (record) => change(record, event));
      return event.progress === null ? idle(id, event) : progress(id, event);
    },
    choose,
    choice: choiceOf,
    async sending(id, upload) {
      const record = await stores.get(typeOf(id), id);
      if (record && !isFinished(record))
        tell({ type: "changed", record, choice: await choiceOf(id), upload });
    },
    replace,
    get,
    async remove(type, id, clear) {
      await withLock(id, async () => {
        const record = await get(type, id);
        if (!isFinished(record)) throw runErrors.running(type);
        await clear();
        await stores.delete(record);
        const steps = record.object === "task" ? record.steps : [];
        for (const each of [record, ...steps]) tell({ type: "removed", id: each.id });
      });
    },
    tell,
  };
}

function change(record: Run, event: RunEvent): Run {
  const now = Date.now();
  return record.object === "task" ? applyToTask(record, event, now) : applyToStep(record, event, now);
}

export function typeOf(id: string): RecordType {
  return String(id).startsWith("step_") ? "step" : "task";
}

/** Ignores errors of some kinds, which mean that another tab was faster. */
export async function ignoreErrors(kinds: readonly ErrorKind[], work: Promise<unknown>): Promise<void> {
  await work.catch((thrown: unknown) => {
    if (!kinds.includes(toMediaError(thrown).kind)) throw thrown;
  });
}

export interface RunStores {
  get(type: RecordType, id: string): Promise<Run | null>;
  put(record: Run): Promise<void>;
  delete(record: Run): Promise<void>;
  list(type: RecordType, query: ListQuery): Promise<Page<Run>>;
  all(): Promise<Run[]>;
  jobs: JobStore;
  /** The visitors' files, by the ids of their runs or jobs. */
  inputs: InputStore;
  pieces: PieceStore;
  /** Approximate size of records, jobs and pieces in bytes. */
  recordBytes(): Promise<number>;
}

/**
 * Wraps stores so that a full disk never loses the end of a run and `wait()` always settles: finished records stay in memory until
 * there is room. If the page closes first, the run resumes from its stored state.
 */
export function bufferTerminal(stores: RunStores): RunStores {
  const unsaved = new Map<string, Run>();

  async function put(record: Run): Promise<void> {
    try {
      await stores.put(record);
      unsaved.delete(record.id);
    } catch (thrown) {
      if (!isFull(thrown) || !isFinished(record)) throw thrown;
      unsaved.set(record.id, record);
    }
  }

  async function store(): Promise<void> {
    for (const record of unsaved.values()) {
      await put(record);
      if (unsaved.has(record.id)) return;
    }
  }

  const current = <T extends Run>(record: T): T => (unsaved.get(record.id) as T | undefined) ?? record;

  return {
    ...stores,
    put,
    async get(type, id) {
      await store();
      return unsaved.get(id) ?? stores.get(type, id);
    },
    async delete(record) {
      unsaved.delete(record.id);
      await stores.delete(record);
    },
    async list(type, query) {
      await store();
      const page = await stores.list(type, query);
      const records = page.records.map(current);
      const { status } = query;
      return { ...page, records: records.filter((each) => status === undefined || each.status === status) };
    },
    all: async () => (await stores.all()).map(current),
  };
}

function isFull(thrown: unknown): boolean {
  return thrown instanceof MediaError && thrown.kind === "storage_full";
}
