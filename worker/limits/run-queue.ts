import type { Sql } from "../sql.ts";

/** A run that wants its turn. */
export interface QueuedRun {
  run_id: string;
  project: string;
  key_id: string;
}

/** How many runs there may be at once. */
export interface RunLimits {
  /** Of one project. */
  per_project: number;
  /** In all. */
  total: number;
}

/** The kinds of work that wait in queues of their own: every run does light work first; a heavy one then needs a native encoder. */
export const LOADS = ["light", "heavy"] as const;
/** A kind of work with a queue of its own. */
export type Load = (typeof LOADS)[number];

/**
 * The runs that are running and those that wait. A free place goes to the project with the fewest running, among equals to the
 * one served longest ago; within it to a key by the same rule; within that key to the oldest run. A project that asks for much
 * thus waits for itself, and others do not wait for it.
 */
export interface RunQueue {
  /** Takes a run that its job holds back: it counts as waiting, and enters later. */
  hold(run: QueuedRun, now: number): void;
  /** Takes a run, which may come again; true when it may go on. */
  enter(run: QueuedRun, now: number): boolean;
  /** Forgets a run. */
  leave(run_id: string): void;
  /** Assigns free slots to waiting runs. */
  fill(now: number): void;
  /** The runs that may proceed but have not been notified. */
  untold(): string[];
  told(run_id: string): void;
  /** How many runs of a project wait, those that are held back included. */
  waiting(project: string): number;
  /** The runs that go on or are held back and were not looked after since `before`. */
  unseen(before: number): string[];
  /** Notes that a run was seen to be there. */
  seen(run_id: string, now: number): void;
  /** True while any run is here. */
  isBusy(): boolean;
}

// The names of the tables; those of light work are older.
const TABLES = {
  light: { turn: "turn", lane: "lane", lanes: "lanes" },
  heavy: { turn: "heavy_turn", lane: "heavy_lane", lanes: "heavy_lanes" },
} as const satisfies Record<Load, object>;

const schemaOf = ({ turn, lane, lanes }: (typeof TABLES)[Load]) => `
  CREATE TABLE IF NOT EXISTS ${turn} (
    arrival INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, project TEXT NOT NULL, key_id TEXT NOT NULL,
    goes_on INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0, seen_at INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS ${turn}_key ON ${turn} (key_id, goes_on, arrival);
  CREATE INDEX IF NOT EXISTS ${turn}_project ON ${turn} (project, goes_on);
  CREATE INDEX IF NOT EXISTS ${turn}_state ON ${turn} (goes_on, told, seen_at);
  CREATE TABLE IF NOT EXISTS ${lane} (
    key_id TEXT PRIMARY KEY, project TEXT NOT NULL, served INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS ${lanes} (project TEXT PRIMARY KEY, served INTEGER NOT NULL) WITHOUT ROWID;
`;

// Values of the column goes_on.
const [WAITS, GOES_ON, HELD] = [0, 1, 2];

/** Keeps the queue of one kind of work in an SQLite database. */
export function createRunQueue(sql: Sql, { per_project, total }: RunLimits, load: Load = "light"): RunQueue {
  const { turn, lane, lanes } = TABLES[load];
  sql.exec(schemaOf(TABLES[load]));
  const one = <T extends Record<string, string | number>>(text: string, ...values: (string | number)[]) =>
    [...sql.exec<T>(text, ...values)][0];
  const ids = (text: string, ...values: number[]) =>
    [...sql.exec<{ run_id: string }>(text, ...values)].map(({ run_id }) => run_id);
  const count = (where: string, ...values: string[]) =>
    one<{ n: number }>(`SELECT COUNT(*) AS n FROM ${turn} WHERE ${where}`, ...values)?.n ?? 0;

  // A project that was served goes to the end, and so does a new one, ahead only of the last served: leaving and returning
  // gains nothing.
  const last = `(SELECT COALESCE(MAX(served), 0) + 2 FROM ${lanes})`;
  const fresh = `(SELECT COALESCE(MAX(served), 0) - 1 FROM ${lanes})`;
  const of_project = `SELECT COUNT(*) FROM ${turn} WHERE ${turn}.project = ${lane}.project AND goes_on = 1`;
  const of_key = `SELECT COUNT(*) FROM ${turn} WHERE ${turn}.key_id = ${lane}.key_id AND goes_on = 1`;
  const choose = `
    SELECT ${lane}.key_id, ${lane}.project FROM ${lane} LEFT JOIN ${lanes} ON ${lanes}.project = ${lane}.project
    WHERE EXISTS (SELECT 1 FROM ${turn} WHERE ${turn}.key_id = ${lane}.key_id AND goes_on = 0) AND (${of_project}) < ?
    ORDER BY (${of_project}), ${lanes}.served, (${of_key}), ${lane}.served LIMIT 1
  `;

  const told = (run_id: string) =>
    void sql.exec(`UPDATE ${turn} SET told = 1 WHERE run_id = ? AND told = 0`, run_id);

  function fill(now: number): void {
    for (let free = total - count("goes_on = 1"); free > 0; free--) {
      const next = one<{ key_id: string; project: string }>(choose, per_project);
      if (!next) return;
      const { key_id, project } = next;
      const first = `SELECT MIN(arrival) FROM ${turn} WHERE key_id = ? AND goes_on = 0`;
      sql.exec(`UPDATE ${turn} SET goes_on = 1, seen_at = ? WHERE arrival = (${first})`, now, key_id);
      sql.exec(`UPDATE ${lane} SET served = ${last} WHERE key_id = ?`, key_id);
      sql.exec(`UPDATE ${lanes} SET served = ${last} WHERE project = ?`, project);
    }
  }

  return {
    hold({ run_id, project, key_id }, now) {
      sql.exec(
        `INSERT OR IGNORE INTO ${turn} (run_id, project, key_id, goes_on, seen_at) VALUES (?, ?, ?, ${HELD}, ?)`,
        ...[run_id, project, key_id, now],
      );
    },
    enter({ run_id, project, key_id }, now) {
      sql.exec(`INSERT OR IGNORE INTO ${lanes} VALUES (?, ${fresh})`, project);
      // A key that is listed in the settings may have another project than before.
      const add = `INSERT INTO ${lane} VALUES (?, ?, ${fresh})`;
      sql.exec(`${add} ON CONFLICT (key_id) DO UPDATE SET project = excluded.project`, key_id, project);
      sql.exec(
        `INSERT OR IGNORE INTO ${turn} (run_id, project, key_id, seen_at) VALUES (?, ?, ?, ?)`,
        ...[run_id, project, key_id, now],
      );
      sql.exec(`UPDATE ${turn} SET goes_on = ${WAITS} WHERE run_id = ? AND goes_on = ${HELD}`, run_id);
      fill(now);
      const found = one<{ goes_on: number }>(`SELECT goes_on FROM ${turn} WHERE run_id = ?`, run_id);
      const goes_on = found?.goes_on === 1;
      if (goes_on) told(run_id);
      return goes_on;
    },
    leave(run_id) {
      const left = one<{ key_id: string; project: string }>(
        `DELETE FROM ${turn} WHERE run_id = ? RETURNING key_id, project`,
        run_id,
      );
      if (!left) return;
      const { key_id, project } = left;
      if (count("key_id = ?", key_id) === 0) sql.exec(`DELETE FROM ${lane} WHERE key_id = ?`, key_id);
      if (count("project = ?", project) === 0) sql.exec(`DELETE FROM ${lanes} WHERE project = ?`, project);
    },
    fill,
    untold: () => ids(`SELECT run_id FROM ${turn} WHERE goes_on = 1 AND told = 0 ORDER BY arrival`),
    told,
    waiting: (project) => count(`project = ? AND goes_on <> ${GOES_ON}`, project),
    unseen: (before) => ids(`SELECT run_id FROM ${turn} WHERE goes_on <> ${WAITS} AND seen_at <= ?`, before),
    seen: (run_id, now) => void sql.exec(`UPDATE ${turn} SET seen_at = ? WHERE run_id = ?`, now, run_id),
    isBusy: () => one(`SELECT 1 AS n FROM ${turn} LIMIT 1`) !== undefined,
  };
}

/** The name of the one object that the queue of runs is kept in. */
export const QUEUE_NAME = "runs";
