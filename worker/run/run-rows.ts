import { RpcTarget } from "cloudflare:workers";
import type { EncoderChoice } from "../../src/media/refusal.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import type { Pin } from "../../src/storage/pinned.ts";
import type { QueueState, RunRow } from "./schedule.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS run (
    one INTEGER PRIMARY KEY CHECK (one = 1), project TEXT NOT NULL, base TEXT NOT NULL, record TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 1, mirrored INTEGER NOT NULL DEFAULT 0, mirrored_at INTEGER NOT NULL DEFAULT 0,
    heard_at INTEGER NOT NULL, progressed_at INTEGER NOT NULL, wakes INTEGER NOT NULL DEFAULT 0,
    started INTEGER NOT NULL DEFAULT 0, cleanups INTEGER NOT NULL DEFAULT 0, cleanup_at INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS uploads (id TEXT PRIMARY KEY, key TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS turn (one INTEGER PRIMARY KEY CHECK (one = 1), key_id TEXT NOT NULL, turn TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS choice (one INTEGER PRIMARY KEY CHECK (one = 1), choice TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS pin (one INTEGER PRIMARY KEY CHECK (one = 1), pin TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS content_key (one INTEGER PRIMARY KEY CHECK (one = 1), sealed TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS leftovers (one INTEGER PRIMARY KEY CHECK (one = 1), cleanups INTEGER NOT NULL, due_at INTEGER NOT NULL);
`;

// A run of an earlier version entered no queue and counts as running.
const SELECT = `
  SELECT run.*, COALESCE(turn.key_id, '') AS key_id, COALESCE(turn.turn, 'goes_on') AS turn,
    COALESCE(choice.choice, 'null') AS choice
  FROM run LEFT JOIN turn ON turn.one = run.one LEFT JOIN choice ON choice.one = run.one
`;

const STORED = "SELECT project, record, turn.turn AS turn FROM run LEFT JOIN turn ON turn.one = run.one";
type Stored = { project: string; record: string; turn: string | null };

/** The next clearing of a deleted run's files, which its work may keep writing for a while. */
export interface Leftovers {
  /** Clearings so far. */
  cleanups: number;
  /** Time at which the row is due, in milliseconds since the epoch. */
  due_at: number;
}

/** The stored row of one run. */
export interface RunRows {
  get(): RunRow | null;
  /** Returns the record as JSON, with its project; null when there is none. */
  text(): { project: string; record: string } | null;
  insert(row: Pick<RunRow, "project" | "base" | "record" | "key_id">, now: number): void;
  update(change: Partial<Omit<RunRow, "project" | "base" | "key_id" | "turn" | "choice">>): void;
  setTurn(turn: QueueState): void;
  /** Stores the encoder assigned to the run's encode, which counts as a change; false when it is stored already. */
  choose(choice: EncoderChoice): boolean;
  /** Stores an incomplete upload into the run's folder. */
  noteUpload(id: string, key: string): void;
  forgetUpload(id: string): void;
  uploads(): { id: string; key: string }[];
  /** Sets the pin of the run's source, as JSON. */
  setPin(pin: string): void;
  pin(): string | null;
  /** Stores the run's sealed encryption key. */
  setKey(sealed: string): void;
  key(): string | null;
  /** Returns the project of a withdrawn run, whose index may still list it; null for any other. */
  withdrawn(): string | null;
  /** Removes the run for good. */
  delete(): void;
  /** Returns the next clearing of a deleted run's files; null when none is due. */
  leftovers(): Leftovers | null;
  setLeftovers(leftovers: Leftovers | null): void;
  /** Records that the object's storage was deleted. */
  cleared(): void;
}

/** Keeps the row in a Durable Object's SQLite. */
export function createRunRows(sql: SqlStorage): RunRows {
  // The first record creates the tables: a request for an unused id must leave nothing behind.
  let ready = sql.exec("SELECT name FROM sqlite_master WHERE name = 'run'").toArray().length > 0;
  // An earlier version created fewer tables.
  if (ready) sql.exec(SCHEMA);
  // A call may resume from an await after the run and its tables are deleted.
  const write = (text: string, ...values: SqlStorageValue[]) => void (ready && sql.exec(text, ...values));
  const select = () => (ready ? sql.exec<Record<string, SqlStorageValue>>(SELECT).toArray()[0] : undefined);
  return {
    get() {
      const row = select();
      if (!row || row.turn === "withdrawn") return null;
      const [record, choice] = [row.record, row.choice].map((text) => JSON.parse(String(text)));
      return { ...row, record, choice } as unknown as RunRow;
    },
    text() {
      const row = ready ? sql.exec<Stored>(STORED).toArray()[0] : undefined;
      return row && row.turn !== "withdrawn" ? row : null;
    },
    insert({ project, base, record, key_id }, now) {
      sql.exec(SCHEMA);
      ready = true;
      const text = JSON.stringify(record);
      // The first mirror waits a second, because most runs start by then and KV accepts one write a second.
      const columns = "INSERT INTO run (one, project, base, record, mirrored_at, heard_at, progressed_at)";
      sql.exec(`${columns} VALUES (1, ?, ?, ?, ?, ?, ?)`, project, base, text, now, now, now);
      sql.exec("INSERT INTO turn VALUES (1, ?, 'none')", key_id);
    },
    update(change) {
      const names = Object.keys(change);
      const values = Object.values(change).map((value) =>
        typeof value === "object" ? JSON.stringify(value) : value,
      );
      write(`UPDATE run SET ${names.map((name) => `${name} = ?`).join(", ")}`, ...values);
    },
    setTurn(turn) {
      const set = "ON CONFLICT (one) DO UPDATE SET turn = excluded.turn";
      write(`INSERT INTO turn VALUES (1, '', ?) ${set}`, turn);
    },
    choose(choice) {
      const text = JSON.stringify(choice);
      if (sql.exec("SELECT choice FROM choice").toArray()[0]?.choice === text) return false;
      sql.exec("INSERT OR REPLACE INTO choice VALUES (1, ?)", text);
      sql.exec("UPDATE run SET version = version + 1");
      return true;
    },
    noteUpload: (id, key) => write("INSERT OR IGNORE INTO uploads VALUES (?, ?)", id, key),
    forgetUpload: (id) => write("DELETE FROM uploads WHERE id = ?", id),
    uploads: () => (ready ? sql.exec<{ id: string; key: string }>("SELECT * FROM uploads").toArray() : []),
    setPin: (pin) => write("INSERT OR REPLACE INTO pin VALUES (1, ?)", pin),
    pin: () => (ready ? (sql.exec<{ pin: string }>("SELECT pin FROM pin").toArray()[0]?.pin ?? null) : null),
    setKey: (sealed) => write("INSERT OR REPLACE INTO content_key VALUES (1, ?)", sealed),
    key() {
      const rows = ready ? sql.exec<{ sealed: string }>("SELECT sealed FROM content_key").toArray() : [];
      return rows[0]?.sealed ?? null;
    },
    withdrawn() {
      const row = select();
      return row?.turn === "withdrawn" ? String(row.project) : null;
    },
    delete() {
      for (const table of ["run", "turn", "choice", "pin", "content_key"]) write(`DELETE FROM ${table}`);
    },
    leftovers: () =>
      (ready && sql.exec<Leftovers & Record<string, number>>("SELECT * FROM leftovers").toArray()[0]) || null,
    setLeftovers(leftovers) {
      write("DELETE FROM leftovers");
      if (leftovers) write("INSERT INTO leftovers VALUES (1, ?, ?)", leftovers.cleanups, leftovers.due_at);
    },
    cleared() {
      ready = false;
    },
  };
}

/** A pin and the run that it belongs to. */
export interface PinnedRun {
  project: string;
  /** Base of the run's URLs. */
  base: string;
  pin: Pin;
}

/** The version of the source that a run reads, stored by its TaskObject until the run ends. */
export class RunPin extends RpcTarget {
  readonly #rows: RunRows;

  constructor(rows: RunRows) {
    super();
    this.#rows = rows;
  }

  /** Pins the source; false when the run is over. */
  set(pin: Pin): boolean {
    const row = this.#rows.get();
    if (!row || isFinished(row.record)) return false;
    this.#rows.setPin(JSON.stringify(pin));
    return true;
  }

  /** Returns the pin; null when there is none or the run is over. */
  get(): PinnedRun | null {
    const row = this.#rows.get();
    const pin = this.#rows.pin();
    if (!row || pin === null || isFinished(row.record)) return null;
    return { project: row.project, base: row.base, pin: JSON.parse(pin) };
  }
}
