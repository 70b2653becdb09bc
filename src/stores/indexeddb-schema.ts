import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from "idb";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";

/** What is remembered of a visitor's file that a run works on. */
export interface InputRecord {
  /** Of the run. */
  id: string;
  /** The file itself, or its handle; null where only the facts are kept. */
  file: Blob | FileSystemFileHandle | null;
  name: string;
  /** Bytes. */
  size: number;
  /** MIME type as the browser says, empty when unknown. */
  type: string;
  /** Milliseconds since the Unix epoch; null or absent when unknown. */
  last_modified?: number | null;
  /** Tells whether a file that is given again is the same. */
  fingerprint: string;
}

/** What a piece of a run's work gave. */
export interface PieceRecord {
  run_id: string;
  name: string;
  value: unknown;
}

/** The object stores of the newest version. */
export interface Schema extends DBSchema {
  tasks: { key: string; value: Task; indexes: { status: [string, string] } };
  steps: { key: string; value: Step; indexes: { status: [string, string] } };
  pieces: { key: [string, string]; value: PieceRecord };
  inputs: { key: string; value: InputRecord };
}

/** An open database of the newest version. */
export type Database = IDBPDatabase<Schema>;

type Upgrade = (
  db: Database,
  transaction: IDBPTransaction<Schema, StoreNames<Schema>[], "versionchange">,
) => void;

// What leads from each version to the next. One that was published never changes: the next change is a new entry.
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
];

/** The newest version of the database. */
export const VERSION = UPGRADES.length;

/** Brings a database from an older version to the newest; records stay as they are. */
export const upgrade = (
  db: Database,
  from: number,
  transaction: IDBPTransaction<Schema, StoreNames<Schema>[], "versionchange">,
): void => {
  for (const step of UPGRADES.slice(from)) step(db, transaction);
};
