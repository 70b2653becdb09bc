import { openDB } from "idb";
import { MediaError } from "../media/errors.ts";
import type { ListPage, ListQuery } from "../runs/lists.ts";
import type { Store } from "../runs/ports.ts";
import type { Step } from "../runs/step.ts";
import type { Task } from "../runs/task.ts";
import * as errors from "./errors.ts";
import {
  type Database,
  type InputRecord,
  type JobRecord,
  type Schema,
  upgrade,
  VERSION,
} from "./indexeddb-schema.ts";

/** Results of the durable steps of runs, so that a run resumes where it stopped; values must support structured clone. */
export interface PieceStore {
  get(run_id: string, name: string): Promise<{ value: unknown } | null>;
  put(run_id: string, name: string, value: unknown): Promise<void>;
  /** Returns the ids of runs with stored results. */
  runs(): Promise<string[]>;
  /** Deletes all results of a run. */
  clear(run_id: string): Promise<void>;
}

/** The visitors' files, by the ids of their runs. */
export interface InputStore {
  get(id: string): Promise<InputRecord | null>;
  all(): Promise<InputRecord[]>;
  put(record: InputRecord): Promise<void>;
  delete(id: string): Promise<void>;
}

/** Jobs; their tasks are separate records. */
export interface JobStore extends ListedStore<JobRecord> {
  /** Stores a job and its tasks, all or nothing. */
  create(job: JobRecord, tasks: readonly Task[]): Promise<void>;
}

/**
 * Everything that a page stores. All operations reject with `storage_full` when there is no room, and with
 * `service_unavailable` after the database has closed.
 */
export interface IndexedDbStores {
  tasks: ListedStore<Task>;
  /** Standalone steps. */
  steps: ListedStore<Step>;
  jobs: JobStore;
  pieces: PieceStore;
  inputs: InputStore;
  /** Returns the approximate size of tasks, steps, jobs and pieces in bytes, measured as JSON. */
  recordBytes(): Promise<number>;
  close(): void;
}

/** Options of {@link openIndexedDb}. */
export interface IndexedDbOptions {
  /** Name of the database; unique per origin. */
  name: string;
  /** Called when another tab keeps an older version open. */
  onBlocked?(): void;
  /** Called with the reason when anything but `close` has closed the database. */
  onClosed?(error: MediaError): void;
  /**
   * Milliseconds to wait for a tab with an older version before opening rejects.
   *
   * @default 10000
   */
  blockedMs?: number;
}

const BLOCKED_MS = 10_000;

/**
 * Opens the database of a page or worker, and upgrades an older one. It closes by itself when another tab needs a newer
 * version.
 *
 * @throws `service_unavailable`: worth a retry while another tab blocks it, but not when a newer version of the page created
 * the database, or the browser denies databases, as in some private windows.
 */
export async function openIndexedDb(options: IndexedDbOptions): Promise<IndexedDbStores> {
  let closed: MediaError | null = null;
  const close = (error: MediaError) => {
    if (closed) return;
    closed = error;
    options.onClosed?.(error);
  };
  const db = await openNewest(options, close);
  const access: Access = async (work) => {
    if (closed) throw closed;
    try {
      return await work(db);
    } catch (thrown) {
      throw closed ?? operationError(thrown);
    }
  };
  return {
    tasks: createRecords(access, "tasks"),
    steps: createRecords(access, "steps"),
    jobs: {
      ...createRecords(access, "jobs"),
      create: (job, tasks) =>
        access(async (open) => {
          const transaction = open.transaction(["jobs", "tasks"], "readwrite");
          const puts = tasks.map((task) => transaction.objectStore("tasks").put(task));
          await Promise.all([transaction.objectStore("jobs").put(job), ...puts, transaction.done]);
        }),
    },
    pieces: createPieces(access),
    inputs: {
      get: async (id) => (await access((open) => open.get("inputs", id))) ?? null,
      all: () => access((open) => open.getAll("inputs")),
      put: async (record) => void (await access((open) => open.put("inputs", record))),
      delete: (id) => access((open) => open.delete("inputs", id)),
    },
    async recordBytes() {
      const names = ["tasks", "steps", "jobs", "pieces"] as const;
      const records = await access((open) => Promise.all(names.map((name) => open.getAll(name))));
      return new Blob(records.flat().map((record) => JSON.stringify(record))).size;
    },
    close() {
      closed ??= errors.closed();
      db.close();
    },
  };
}

function createPieces(access: Access): PieceStore {
  return {
    async get(run_id, name) {
      const piece = await access((db) => db.get("pieces", [run_id, name]));
      return piece ? { value: piece.value } : null;
    },
    async put(run_id, name, value) {
      await access((db) => db.put("pieces", { run_id, name, value }));
    },
    async runs() {
      const keys = await access((db) => db.getAllKeys("pieces"));
      return [...new Set(keys.map(([run_id]) => run_id))];
    },
    clear: (run_id) => access((db) => db.delete("pieces", IDBKeyRange.bound([run_id], [run_id, []]))),
  };
}

async function openNewest(options: IndexedDbOptions, close: (error: MediaError) => void): Promise<Database> {
  let giveUp = (_: MediaError) => {};
  const blocked = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  // A second attempt queues behind the first and fires no event.
  const timer = setTimeout(() => giveUp(errors.blocked()), options.blockedMs ?? BLOCKED_MS);
  let abandoned = false;
  // Async, so that a missing IndexedDB also becomes a rejection.
  const opening = (async () =>
    openDB<Schema>(options.name, VERSION, {
      upgrade(db, from, _, transaction) {
        clearTimeout(timer);
        transaction.done.catch(() => {});
        try {
          upgrade(db, from, transaction);
        } catch (thrown) {
          console.warn(thrown);
          transaction.abort();
        }
      },
      blocked: () => options.onBlocked?.(),
      blocking(_, next, event) {
        close(errors.takenOver({ by: next === null ? "deleted" : "upgraded" }));
        (event.target as IDBDatabase | null)?.close();
      },
      terminated: () => close(errors.terminated()),
    }))();
  void opening.then(
    (db) => abandoned && db.close(),
    () => {},
  );
  try {
    return await Promise.race([opening, blocked]);
  } catch (thrown) {
    abandoned = true;
    throw thrown instanceof MediaError ? thrown : notOpened(thrown);
  } finally {
    clearTimeout(timer);
  }
}

function notOpened(thrown: unknown): MediaError {
  const name = thrown instanceof Error ? thrown.name : "";
  const cause = thrown;
  if (name === "QuotaExceededError") return errors.full({ cause });
  if (name === "VersionError") return errors.newer({ cause });
  if (name === "AbortError") return errors.notUpgraded({ cause });
  return errors.denied({ cause });
}

function operationError(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  return FAULTS[thrown.name]?.({ cause: thrown }) ?? thrown;
}

// Keys are always valid, so a DataError concerns a file's bytes.
const FAULTS: Readonly<Record<string, (facts: { cause: Error }) => MediaError>> = {
  QuotaExceededError: errors.full,
  DataError: errors.fileUnstorable,
  NotFoundError: errors.fileUnstorable,
  NotReadableError: errors.fileUnstorable,
  DataCloneError: errors.copyFailed,
  UnknownError: errors.databaseFailed,
};

/** A store that can list its records. */
interface ListedStore<T extends { id: string }> extends Store<T> {
  /** Returns a page of records in order of their ids, which is the order of creation. */
  list(query: ListQuery): Promise<ListPage<T>>;
  /** Returns all records, oldest first. */
  all(): Promise<T[]>;
}

/** Runs an operation on the database and converts its errors. */
type Access = <T>(work: (db: Database) => Promise<T>) => Promise<T>;

interface Records {
  tasks: Task;
  steps: Step;
  jobs: JobRecord;
}

// Sorts after every string.
const END: IDBValidKey = [];

function createRecords<K extends keyof Records>(access: Access, name: K): ListedStore<Records[K]> {
  type Row = Records[K];
  // Jobs have no status index; no caller lists them by status.
  const store = name as "tasks";
  return {
    get: async (id) => ((await access((db) => db.get(store, id))) as unknown as Row | undefined) ?? null,
    put: async (record) => void (await access((db) => db.put(store, record as unknown as Task))),
    delete: (id) => access((db) => db.delete(store, id)),
    all: async () => (await access((db) => db.getAll(store))) as unknown as Row[],
    list: async (query) => (await access((db) => listRecords(db, store, query))) as unknown as ListPage<Row>,
  };
}

async function listRecords(db: Database, name: "tasks", query: ListQuery): Promise<ListPage<Task>> {
  const { limit, order, after, before, status, kind } = query;
  const [low, high] = order === "desc" ? [before, after] : [after, before];
  if (low !== undefined && high !== undefined && low >= high) return { records: [], more: false };
  const backwards = before !== undefined && after === undefined;
  const direction = (order === "asc") === backwards ? "prev" : "next";
  const store = db.transaction(name).store;
  const open = () =>
    status === undefined
      ? store.openCursor(rangeOf(low ?? "", high ?? END), direction)
      : store.index("status").openCursor(rangeOf([status, low ?? ""], [status, high ?? END]), direction);
  const matches: Task[] = [];
  for (let cursor = await open(); cursor && matches.length <= limit; cursor = await cursor.continue()) {
    if (kind === undefined || cursor.value.kind === kind) matches.push(cursor.value);
  }
  const records = matches.slice(0, limit);
  return { records: backwards ? records.reverse() : records, more: matches.length > limit };
}

function rangeOf(low: IDBValidKey, high: IDBValidKey): IDBKeyRange {
  return IDBKeyRange.bound(low, high, true, true);
}
