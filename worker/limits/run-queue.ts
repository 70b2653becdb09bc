import type { Sql } from "../sql.ts";

/** A run in the queue. */
export interface QueuedRun {
  run_id: string;
  project: string;
  key_id: string;
}

/** Limits on concurrent runs. */
export interface RunLimits {
  /** Limit of each project. */
  per_project: number;
  /** Limit of all projects together. */
  total: number;
}

/** The kinds of work, each with its own queue: every run starts with light work; heavy work needs a native encoder. */
export const LOADS = ["light", "heavy"] as const;
/** A kind of work with its own queue. */
export type Load = (typeof LOADS)[number];

/**
 * A fair queue of runs. A free slot goes to the project with the fewest running runs, among equals to the one served longest ago; within
 * the project to a key by the same rule, and within the key to the oldest run. A busy project thus delays only itself.
 */
export interface RunQueue {
  /** Adds a run that its job blocks: it counts as waiting, and enters later. */
  hold(run: QueuedRun, now: number): void;
  /** Adds a run, unless it is there already; returns whether it has a slot. */
  enter(run: QueuedRun, now: number): boolean;
  /** Removes a run. */
  leave(run_id: string): void;
  /** Assigns free slots to waiting runs. */
  fill(now: number): void;
  /** Returns the runs that have a slot but have not been notified. */
  toNotify(): string[];
  /** Records that a run was notified. */
  markNotified(run_id: string): void;
  /** Returns how many runs of a project wait, including blocked ones. */
  waiting(project: string): number;
  /** Returns the running or blocked runs last seen at or before `before`, in milliseconds since the epoch. */
  toCheck(before: number): string[];
  /** Records that a run still exists. */
  markSeen(run_id: string, now: number): void;
  /** Whether the queue has any run. */
  isBusy(): boolean;
}

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

const [WAITS, GOES_ON, BLOCKED] = [0, 1, 2];

/** Creates the queue of one kind of work in an SQLite database. */
export function createRunQueue(sql: Sql, { per_project, total }: RunLimits, load: Load = "light"): RunQueue {
  const { turn, lane, lanes } = TABLES[load];
  sql.exec(schemaOf(TABLES[load]));
  const one = <T extends Record<string, string | number>>(text: string, ...values: (string | number)[]) =>
    [...sql.exec<T>(text, ...values)][0];
  const ids = (text: string, ...values: number[]) =>
    [...sql.exec<{ run_id: string }>(text, ...values)].map(({ run_id }) => run_id);
  const count = (where: string, ...values: string[]) =>
    one<{ n: number }>(`SELECT COUNT(*) AS n FROM ${turn} WHERE ${where}`, ...values)?.n ?? 0;

  // A served project goes to the end, and a new one just ahead of the last served, so that leaving and returning gains nothing.
  const last = `(SELECT COALESCE(MAX(served), 0) + 2 FROM ${lanes})`;
  const fresh = `(SELECT COALESCE(MAX(served), 0) - 1 FROM ${lanes})`;
  const of_project = `SELECT COUNT(*) FROM ${turn} WHERE ${turn}.project = ${lane}.project AND goes_on = 1`;
  const of_key = `SELECT COUNT(*) FROM ${turn} WHERE ${turn}.key_id = ${lane}.key_id AND goes_on = 1`;
  const choose = `
    SELECT ${lane}.key_id, ${lane}.project FROM ${lane} LEFT JOIN ${lanes} ON ${lanes}.project = ${lane}.project
    WHERE EXISTS (SELECT 1 FROM ${turn} WHERE ${turn}.key_id = ${lane}.key_id AND goes_on = 0) AND (${of_project}) < ?
    ORDER BY (${of_project}), ${lanes}.served, (${of_key}), ${lane}.served LIMIT 1
  `;

  const markNotified = (run_id: string) =>
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
        `INSERT OR IGNORE INTO ${turn} (run_id, project, key_id, goes_on, seen_at) VALUES (?, ?, ?, ${BLOCKED}, ?)`,
        run_id,
        project,
        key_id,
        now,
      );
    },
    enter({ run_id, project, key_id }, now) {
      sql.exec(`INSERT OR IGNORE INTO ${lanes} VALUES (?, ${fresh})`, project);
      // A key in the settings may have been moved to another project.
      const add = `INSERT INTO ${lane} VALUES (?, ?, ${fresh})`;
      sql.exec(`${add} ON CONFLICT (key_id) DO UPDATE SET project = excluded.project`, key_id, project);
      sql.exec(
        `INSERT OR IGNORE INTO ${turn} (run_id, project, key_id, seen_at) VALUES (?, ?, ?, ?)`,
        run_id,
        project,
        key_id,
        now,
      );
      sql.exec(`UPDATE ${turn} SET goes_on = ${WAITS} WHERE run_id = ? AND goes_on = ${BLOCKED}`, run_id);
      fill(now);
      const row = one<{ goes_on: number }>(`SELECT goes_on FROM ${turn} WHERE run_id = ?`, run_id);
      const goes_on = row?.goes_on === GOES_ON;
      if (goes_on) markNotified(run_id);
      return goes_on;
    },
    leave(run_id) {
      const row = one<{ key_id: string; project: string }>(
        `DELETE FROM ${turn} WHERE run_id = ? RETURNING key_id, project`,
        run_id,
      );
      if (!row) return;
      const { key_id, project } = row;
      if (count("key_id = ?", key_id) === 0) sql.exec(`DELETE FROM ${lane} WHERE key_id = ?`, key_id);
      if (count("project = ?", project) === 0) sql.exec(`DELETE FROM ${lanes} WHERE project = ?`, project);
    },
    fill,
    toNotify: () => ids(`SELECT run_id FROM ${turn} WHERE goes_on = 1 AND told = 0 ORDER BY arrival`),
    markNotified,
    waiting: (project) => count(`project = ? AND goes_on <> ${GOES_ON}`, project),
    toCheck: (before) => ids(`SELECT run_id FROM ${turn} WHERE goes_on <> ${WAITS} AND seen_at <= ?`, before),
    markSeen: (run_id, now) => void sql.exec(`UPDATE ${turn} SET seen_at = ? WHERE run_id = ?`, now, run_id),
    isBusy: () => one(`SELECT 1 AS n FROM ${turn} LIMIT 1`) !== undefined,
  };
}

/** The name of the single object that holds the queues. */
export const QUEUE_NAME = "runs";
