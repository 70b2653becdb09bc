import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { type Packed, pack, type Sql, unpack, whereOf } from "../sql.ts";
import { GIVE_UP_MS } from "../webhooks/delivery.ts";

// Only four unpacked records would fit a page of a WITHOUT ROWID table, and lists would take ten times as long.
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS run (
    id TEXT PRIMARY KEY, object TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
    version INTEGER NOT NULL, record TEXT NOT NULL
  );
  DROP INDEX IF EXISTS run_object;
  CREATE INDEX IF NOT EXISTS run_status ON run (object, status, id);
  CREATE INDEX IF NOT EXISTS run_kind ON run (object, kind, id);
  CREATE INDEX IF NOT EXISTS run_kind_status ON run (object, kind, status, id);
  CREATE TABLE IF NOT EXISTS gone (id TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS gone_age ON gone (at);
  CREATE TABLE IF NOT EXISTS parent (step_id TEXT PRIMARY KEY, task_id TEXT NOT NULL) WITHOUT ROWID;
`;
const GONE_MS = GIVE_UP_MS + 86_400_000;
const FIND_EARLIER = "SELECT name FROM sqlite_master WHERE name = 'run' AND sql LIKE '%WITHOUT ROWID%'";
const MIGRATION = [
  "ALTER TABLE run RENAME TO earlier_run",
  "DROP INDEX run_status",
  SCHEMA,
  "INSERT INTO run SELECT id, object, kind, status, version, record FROM earlier_run ORDER BY id",
  "DROP TABLE earlier_run",
];

/** Characters of records after which a page ends. A character takes up to two bytes, and an RPC call carries 32 MiB. */
export const PAGE_CHARS = 12_000_000;

/** The types of records. */
export const RUN_KINDS = ["task", "step"] as const;
/** A type of record. */
export type RunKind = (typeof RUN_KINDS)[number];

/** A record with its id, as JSON. */
export interface ArchivedRecord {
  id: string;
  json: string;
}

/** Limits of one read; it stops at the first record that reaches `bytes`. */
export interface Batch {
  records: number;
  bytes: number;
}

/** The index of one project's tasks and standalone steps, from which lists are read. */
export interface RunIndex {
  /** Adds a record or replaces an older version of it; false when the index has this version or a newer one. */
  put(record: Task | Step, version: number): boolean;
  /** Removes a record and remembers its id for four days. */
  remove(id: string, now?: number): void;
  /** Returns finished records with ids between `above` and `below`, oldest first, up to a limit. */
  finished(above: string, below: string, limit: Batch): ArchivedRecord[];
  /** Removes a record without remembering its id, such as one that is archived. */
  drop(id: string): void;
  /** Whether a record was removed within the last four days. */
  isGone(id: string): boolean;
  /** Returns a record as JSON; null for an unknown one. */
  get(id: string): string | null;
  /** Returns the id of the task that a step belongs to; null for an unknown step. */
  parentOf(step_id: string): string | null;
  /** Returns a page of records as JSON texts, in the requested order. */
  list(object: RunKind, query: ListQuery): ListPage<string>;
}

/** Keeps the index in SQLite. */
export function createRunIndex(sql: Sql): RunIndex {
  const earlier = [...sql.exec(FIND_EARLIER)].length > 0;
  for (const text of earlier ? MIGRATION : [SCHEMA]) sql.exec(text);

  function get(id: string): string | null {
    const row = [...sql.exec<{ record: Packed }>("SELECT record FROM run WHERE id = ?", id)][0];
    return row ? unpackRecord(row.record) : null;
  }

  function drop(id: string): void {
    const record = get(id);
    for (const step of record === null ? [] : stepsOf(JSON.parse(record)))
      sql.exec("DELETE FROM parent WHERE step_id = ?", step.id);
    sql.exec("DELETE FROM run WHERE id = ?", id);
  }

  return {
    put(record, version) {
      const { id, object, kind, status } = record;
      const text = "SELECT version, status FROM run WHERE id = ?";
      const previous = [...sql.exec<{ version: number; status: Task["status"] }>(text, id)][0];
      // Packed events are unpacked with the finished record, so it must not change.
      if (previous && (previous.version >= version || isFinished(previous))) return false;
      const json = JSON.stringify(record);
      if (previous && !isFinished(record)) {
        const change = "UPDATE run SET status = ?, version = ?, record = ? WHERE id = ?";
        sql.exec(change, status, version, json, id);
        return true;
      }
      // REPLACE moves a finished record to the end of the table; packed in place, it would leave most of its page empty.
      const content = isFinished(record) ? pack(json, RECORD_SAMPLE) : json;
      const columns = "(id, object, kind, status, version, record)";
      const values = [id, object, kind, status, version, content];
      sql.exec(`INSERT OR REPLACE INTO run ${columns} VALUES (?, ?, ?, ?, ?, ?)`, ...values);
      if (previous) return true;
      const steps = stepsOf(record).map((step) => step.id);
      for (const step_id of isRising(steps) ? steps.slice(0, 1) : steps) {
        sql.exec("INSERT OR REPLACE INTO parent (step_id, task_id) VALUES (?, ?)", step_id, id);
      }
      return true;
    },
    finished(above, below, limit) {
      const text = `SELECT id, record FROM run WHERE id > ? AND id < ?
        AND status IN ('succeeded', 'failed', 'cancelled') ORDER BY id LIMIT ?`;
      const records: ArchivedRecord[] = [];
      let bytes = 0;
      for (const { id, record } of sql.exec<{ id: string; record: Packed }>(
        text,
        above,
        below,
        limit.records,
      )) {
        const json = unpackRecord(record);
        records.push({ id, json });
        bytes += json.length;
        if (bytes >= limit.bytes) break;
      }
      return records;
    },
    drop,
    remove(id, now = Date.now()) {
      drop(id);
      sql.exec("DELETE FROM gone WHERE at < ?", now - GONE_MS);
      sql.exec("INSERT OR REPLACE INTO gone VALUES (?, ?)", id, now);
    },
    isGone: (id) => [...sql.exec("SELECT at FROM gone WHERE id = ?", id)].length > 0,
    get,
    parentOf(step_id) {
      const text = "SELECT task_id FROM parent WHERE step_id <= ? ORDER BY step_id DESC LIMIT 1";
      const id = [...sql.exec<{ task_id: string }>(text, step_id)][0]?.task_id;
      const record = id === undefined ? null : get(id);
      const steps = record === null ? [] : stepsOf(JSON.parse(record));
      return id !== undefined && steps.some((step) => step.id === step_id) ? id : null;
    },
    list(object, query) {
      const { where, values, ascending, toPage } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const conditions = [...ownedBy(object, where), ...where].join(" AND ");
      const text = `SELECT record FROM run WHERE ${conditions} ORDER BY id ${order} LIMIT ?`;
      const rows: string[] = [];
      let chars = 0;
      for (const { record } of sql.exec<{ record: Packed }>(text, ...values, query.limit + 1)) {
        if (chars > PAGE_CHARS) return toPage([...rows, ""], rows.length);
        const json = unpackRecord(record);
        rows.push(json);
        chars += json.length;
      }
      return toPage(rows);
    },
  };
}

// Ids begin with their object's type, so bounds on the id let the primary key serve an unfiltered list.
function ownedBy(object: RunKind, where: readonly string[]): string[] {
  if (where.some((condition) => !condition.startsWith("id "))) return [`object = '${object}'`];
  const bounds = [`id > '${object}_'`, `id < '${object}a'`];
  return bounds.filter((bound) => !where.some((condition) => condition.slice(0, 4) === bound.slice(0, 4)));
}

function isRising(ids: readonly string[]): boolean {
  return ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? ""));
}

function unpackRecord(record: Packed): string {
  return unpack(record, () => RECORD_SAMPLE);
}

function stepsOf(record: Task | Step): readonly Step[] {
  return record.object === "task" ? record.steps : [];
}

// The dictionary that finished records are packed with. Stored records cannot be read without it, so it must never change.

const VIDEO = {
  object: "source",
  url: "https://media.example.com/input.mp4",
  kind: "video",
  format: "mp4",
  mime: "video/mp4",
  filesize: 10485760,
  duration: 10.5,
  width: 1920,
  height: 1080,
  coded_width: 1920,
  coded_height: 1080,
  sample_aspect_ratio: "1:1",
  rotation: 0,
  pixel_format: "yuv420p",
  has_alpha: false,
  interlaced: false,
  color: {
    primaries: "bt709",
    transfer: "bt709",
    space: "bt709",
    range: "limited",
    bit_depth: 8,
    hdr: false,
  },
  fps: 25,
  bitrate: 8000000,
  codecs: { video: "h264", audio: "aac" },
  audio: { channels: 2, sample_rate: 48000 },
  streams: [
    { index: 0, kind: "video", codec: "h264", duration: 10.5, end: 10.5, bitrate: 8000000 },
    { index: 1, kind: "audio", codec: "aac", duration: 10.5, end: 10.5, bitrate: 128000, language: "eng" },
  ],
  tags: { title: "", artist: "", encoder: "Lavf59.27.100" },
  chapters: 1,
  dropped: [],
  etag: "",
};
const ENCODED = {
  ...VIDEO,
  url: "https://media.example.com/media/.1796121133/out/task_01m86/output.mp4",
  counts: { pictures: { source: 250, output: 250 }, sound: { source: 10.5, output: 10.5 } },
  encoder: "native",
  reason: "Fits the encoder's memory and time limits.",
};
const SOUND = {
  object: "source",
  url: "https://media.example.com/input.mp3",
  kind: "audio",
  format: "mp3",
  mime: "audio/mpeg",
  filesize: 10485760,
  duration: 10.5,
  bitrate: 128000,
  codecs: { video: null, audio: "mp3" },
  audio: { channels: 2, sample_rate: 44100 },
  streams: [{ index: 0, kind: "audio", codec: "mp3", duration: 10.5, bitrate: 128000 }],
};
const STILL = {
  object: "source",
  url: "https://media.example.com/media/.1796121133/work/task_01m86/source",
  kind: "image",
  format: "png",
  mime: "image/png",
  filesize: 10485760,
  width: 1920,
  height: 1080,
  coded_width: 1920,
  coded_height: 1080,
  sample_aspect_ratio: "1:1",
  rotation: 0,
  pixel_format: "rgb24",
  has_alpha: false,
  interlaced: false,
  color: { range: "full", bit_depth: 8, hdr: false },
  codecs: { video: "png", audio: null },
  animated: false,
  streams: [{ index: 0, kind: "video", codec: "png" }],
  encoder: "light",
  reason: "About 1 s of work.",
  etag: "",
};

function step(kind: string, input: object, output: object): object {
  const times = { created_at: 1795516333012, started_at: 1795516333588, finished_at: 1795516336967 };
  const end = { status: "succeeded", progress: 100, error: null, ...times, updated_at: 1795516336967 };
  return { id: "step_01m86", object: "step", kind, input, options: {}, output, ...end };
}

const FAILED = {
  error: {
    kind: "input_not_found",
    message: "The input could not be read: the server answered 404.",
    retryable: false,
  },
  status: "failed",
  progress: null,
};

/** Resembles the JSON of any finished task or step. */
export const RECORD_SAMPLE = JSON.stringify([
  SOUND,
  STILL,
  FAILED,
  {
    id: "task_01m86",
    object: "task",
    input: "https://media.example.com/input.mp4",
    kind: "video",
    options: { format: "webp", codec: "h264", width: 1280, height: 720, quality: "high" },
    metadata: {},
    output: "https://media.example.com/media/.1796121133/out/task_01m86/output.mp4",
    status: "succeeded",
    error: null,
    steps: [
      step("probe", { object: "external_file", url: "https://media.example.com/input.mp4" }, VIDEO),
      step("ingest", VIDEO, VIDEO),
      step("adaptive_video", VIDEO, ENCODED),
      step("image", STILL, STILL),
      step("upload", ENCODED, { ...ENCODED, etag: "" }),
    ],
    created_at: 1795516333012,
    started_at: 1795516333588,
    finished_at: 1795516357454,
    updated_at: 1795516357454,
  },
]);
