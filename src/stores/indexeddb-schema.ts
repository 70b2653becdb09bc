import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from "idb";
import type { JobHead } from "../runs/job.ts";
import type { Step } from "../runs/step.ts";
import type { Task } from "../runs/task.ts";

/** The stored input file of a run. */
export interface InputRecord {
  /** Id of the run. */
  id: string;
  /** The file or its handle; null when only its properties are stored. */
  file: Blob | FileSystemFileHandle | null;
  name: string;
  size: number;
  /** MIME type reported by the browser; empty when unknown. */
  type: string;
  /** Milliseconds since the Unix epoch; null or absent when unknown. */
  last_modified?: number | null;
  /** Identifies the file, to recognize it when it is selected again. */
  fingerprint: string;
}

/** A job, with the ids of its tasks in the order of its outputs. */
export interface JobRecord extends JobHead {
  tasks: string[];
}

/** The stored result of a durable step of a run. */
export interface PieceRecord {
  run_id: string;
  name: string;
  value: unknown;
}

/** The object stores of the latest version. */
export interface Schema extends DBSchema {
  tasks: { key: string; value: Task; indexes: { status: [string, string] } };
  steps: { key: string; value: Step; indexes: { status: [string, string] } };
  jobs: { key: string; value: JobRecord };
  pieces: { key: [string, string]; value: PieceRecord };
  inputs: { key: string; value: InputRecord };
}

export type Database = IDBPDatabase<Schema>;

type Upgrade = (
  db: Database,
  transaction: IDBPTransaction<Schema, StoreNames<Schema>[], "versionchange">,
) => void;

// Never change a published entry; add a new one.
const UPGRADES: readonly Upgrade[] = [
  (db) => {
    db.createObjectStore("tasks", { keyPath: "id" });
    db.createObjectStore("steps", { keyPath: "id" });
    db.createObjectStore("pieces", { keyPath: ["run_id", "name"] });
  },
  (db, transaction) => {
    db.createObjectStore("inputs", { keyPath: "id" });
    for (const name of ["tasks", "steps"] as const) {
      transaction.objectStore(name).createIndex("status", ["status", "id"]);
    }
  },
  (db) => {
    db.createObjectStore("jobs", { keyPath: "id" });
  },
];

export const VERSION = UPGRADES.length;

/** Upgrades a database from an older version; keeps its records. */
export const upgrade = (
  db: Database,
  from: number,
  transaction: IDBPTransaction<Schema, StoreNames<Schema>[], "versionchange">,
): void => {
  for (const step of UPGRADES.slice(from)) step(db, transaction);
};
