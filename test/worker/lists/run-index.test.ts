import { DatabaseSync } from "node:sqlite";
import { deflateSync } from "fflate";
import { expect, test } from "vitest";
import type { ListQuery } from "../../../src/runs/lists.ts";
import { createStep, type Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { createJobTable } from "../../../worker/jobs/job-table.ts";
import { createRunIndex } from "../../../worker/run/run-index.ts";
import { type Sql, unpack } from "../../../worker/sql.ts";
import { QUEUED } from "../../client/records.ts";

const MANY = 100_000;
// One in a hundred failed, one in a thousand is still processing.
const SEED = `
  WITH RECURSIVE each (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM each WHERE n < ${MANY}),
  generated AS (SELECT n, printf('task_%026d', n) AS id,
    CASE n % 4 WHEN 0 THEN 'video' WHEN 1 THEN 'audio' WHEN 2 THEN 'image' ELSE 'adaptive_video' END AS kind,
    CASE WHEN n % 1000 = 7 THEN 'processing' WHEN n % 100 = 0 THEN 'failed' ELSE 'succeeded' END AS status FROM each)
  INSERT INTO run (id, object, kind, status, version, record)
    SELECT id, 'task', kind, status, 1, json_object('id', id, 'object', 'task', 'kind', kind, 'status', status, 'steps', json_array()) FROM generated`;

function open(before: string[] = []) {
  const database = new DatabaseSync(":memory:");
  for (const text of before) database.exec(text);
  const statements: { text: string; values: (string | number | null)[] }[] = [];
  const sql: Sql = {
    exec<T>(text: string, ...values: (string | number | null)[]): Iterable<T> {
      statements.push({ text, values });
      if (!/^SELECT/.test(text) && values.length === 0) {
        database.exec(text);
        return [];
      }
      return database.prepare(text).all(...values) as T[];
    },
  };
  const index = createRunIndex(sql);
  const list = (query: Partial<ListQuery>, object: "task" | "step" = "task") => {
    const { records, more } = index.list(object, { limit: 100, order: "desc", ...query });
    return { records: records.map((text) => JSON.parse(text) as Task), more };
  };
  const plan = () => {
    const { text, values } = statements.at(-1) ?? { text: "", values: [] };
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    return rows.map(({ detail }) => String(detail)).join("; ");
  };
  return { database, sql, index, list, plan };
}

const idOf = (n: number) => `task_${String(n).padStart(26, "0")}`;
const numberOf = (id: string) => Number(id.slice(5));
const taskOf = (n: number, more: Partial<Omit<Task, "kind" | "options">> = {}): Task => ({
  ...QUEUED,
  id: idOf(n),
  ...more,
});

test("a page of 100,000 tasks reads only its own rows, with any filter", () => {
  const { database, list, plan } = open();
  database.exec(SEED);
  const cursors = [{}, { after: idOf(MANY / 2) }, { before: idOf(MANY / 2) }];
  const filters = [
    [{}, "id>? AND id<?"],
    [{ status: "failed" }, "object=? AND status=?"],
    [{ kind: "image" }, "object=? AND kind=?"],
    [{ status: "processing", kind: "adaptive_video" }, "object=? AND kind=? AND status=?"],
  ] as const;
  for (const order of ["asc", "desc"] as const) {
    for (const cursor of cursors) {
      for (const [filter, columns] of filters) {
        list({ order, ...cursor, ...filter });
        const search = `SEARCH run USING INDEX \\w+ \\(${columns.replaceAll("?", "\\?")}( AND id[<>]\\?)?\\)`;
        expect(plan(), JSON.stringify({ order, ...cursor, ...filter })).toMatch(new RegExp(`^${search}$`));
      }
    }
  }
});

test.each([
  { name: "all tasks", filter: {}, order: "desc", fits: () => true },
  { name: "all tasks, oldest first", filter: {}, order: "asc", fits: () => true },
  { name: "failed tasks", filter: { status: "failed" }, order: "desc", fits: (n: number) => n % 100 === 0 },
  {
    name: "failed tasks of one kind",
    filter: { status: "failed", kind: "video" },
    order: "asc",
    fits: (n: number) => n % 100 === 0,
  },
] as const)("paging through $name returns each once while others come and go", ({ filter, order, fits }) => {
  const { database, index, list } = open();
  database.exec(SEED);
  const before = Array.from({ length: MANY }, (_, n) => n + 1).filter(fits);
  const seen: number[] = [];
  const removed = new Set<number>();
  const added: number[] = [];
  for (let page = 0, after: string | undefined; ; page++) {
    const { records, more } = list({ order, ...filter, ...(after !== undefined && { after }) });
    seen.push(...records.map(({ id }) => numberOf(id)));
    if (!more) break;
    expect(records).toHaveLength(100);
    after = records.at(-1)?.id;
    // Removes the cursor's record, one already seen and one still to come, and adds a new one.
    const at = numberOf(after ?? "");
    for (const n of [at, at - 10_000, at + 10_000]) {
      index.remove(idOf(n));
      removed.add(n);
    }
    added.push(MANY + page + 1);
    index.put(taskOf(MANY + page + 1, { status: "failed" }), 1);
  }
  const sign = order === "asc" ? 1 : -1;
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => sign * (a - b)));
  const listed = new Set(seen);
  // Only paging from the oldest to the newest reaches records created meanwhile.
  const expected = order === "asc" ? [...before, ...added] : before;
  expect(expected.filter((n) => !removed.has(n) && !listed.has(n))).toEqual([]);
  expect(added.some((n) => listed.has(n))).toBe(order === "asc");
});

test("replaces an older version of a record, and moves it between the lists of states", () => {
  const { index, list } = open();
  const [old, young] = [taskOf(1), taskOf(2)];
  expect([index.put(old, 1), index.put(young, 1)]).toEqual([true, true]);
  expect(index.put({ ...old, status: "processing" }, 3)).toBe(true);
  expect(index.put({ ...old, status: "queued" }, 2)).toBe(false);
  expect(index.put({ ...old, status: "queued" }, 3)).toBe(false);
  expect(list({ status: "queued" }).records).toEqual([young]);
  expect(list({ status: "processing", kind: "video" }).records).toEqual([{ ...old, status: "processing" }]);
  expect(list({}).records.map(({ id }) => id)).toEqual([young.id, old.id]);
});

test.each([0, 65_000, 65_536, 70_000, 300_000])("a finished record of %d bytes is kept whole", (length) => {
  const { index } = open();
  // The record has exactly this number of bytes.
  const plain = taskOf(1, { status: "failed", metadata: { note: "" } });
  const bare = JSON.stringify(plain).length;
  const note = "ab".repeat(length).slice(0, Math.max(0, length - bare));
  const record = { ...plain, metadata: { note } };
  expect(index.put(record, 1)).toBe(true);
  expect(index.get(record.id)).toBe(JSON.stringify(record));
});

test("a text is unpacked whole however it was packed", () => {
  const text = "ab".repeat(35_000);
  const stored = deflateSync(new TextEncoder().encode(text), { level: 0 });
  expect(unpack(stored.buffer as ArrayBuffer, () => "ab")).toBe(text);
});

test("tasks and steps have separate lists, and a task's step leads to its task until that is removed", () => {
  const { database, index, list } = open();
  const step: Step = createStep(
    { kind: "video", input: null, options: {} },
    () => "step_00000000000000000000000001",
    0,
  );
  index.put(step, 1);
  index.put(taskOf(1), 1);
  index.put(taskOf(2, { steps: [] }), 1);
  expect(list({ kind: "video" }, "step").records).toEqual([step]);
  expect(list({ kind: "video", order: "asc" }).records.map(({ id }) => numberOf(id))).toEqual([1, 2]);
  const inner = QUEUED.steps[0]?.id ?? "";
  expect([index.parentOf(inner), index.parentOf(step.id)]).toEqual([idOf(1), null]);
  index.remove(idOf(1));
  index.remove(step.id);
  expect([index.parentOf(inner), list({}, "step").records]).toEqual([null, []]);
  expect(database.prepare("SELECT COUNT(*) AS left FROM parent").get()).toEqual({ left: 0 });
});

test("reads the tables of an earlier version", () => {
  const record = JSON.stringify(taskOf(1));
  const { index, list } = open([
    "CREATE TABLE run (id TEXT PRIMARY KEY, object TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, version INTEGER NOT NULL, record TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX run_status ON run (object, status, id)",
    "CREATE TABLE parent (step_id TEXT PRIMARY KEY, task_id TEXT NOT NULL) WITHOUT ROWID",
    `INSERT INTO run VALUES ('${idOf(1)}', 'task', 'video', 'queued', 4, '${record}')`,
  ]);
  expect(list({ status: "queued" })).toEqual({ records: [taskOf(1)], more: false });
  expect([index.put(taskOf(1), 4), index.put(taskOf(1, { status: "failed" }), 5)]).toEqual([false, true]);
  expect(list({ status: "failed" }).records).toHaveLength(1);
});

test("finds the task of each of its steps, in whatever order their ids are", () => {
  const { index } = open();
  const stepsOf = (...ids: string[]) => ids.map((id) => ({ ...(QUEUED.steps[0] as Step), id }));
  index.put(taskOf(1, { steps: stepsOf("step_b", "step_c", "step_f") }), 1);
  index.put(taskOf(2, { steps: stepsOf("step_p", "step_k") }), 1);
  index.put(taskOf(2, { steps: stepsOf("step_p", "step_k"), status: "failed" }), 2);
  const parents = ["b", "c", "f", "p", "k"].map((name) => index.parentOf(`step_${name}`));
  expect(parents).toEqual([idOf(1), idOf(1), idOf(1), idOf(2), idOf(2)]);
  expect(["a", "d", "n", "z"].map((name) => index.parentOf(`step_${name}`))).toEqual([
    null,
    null,
    null,
    null,
  ]);
  index.remove(idOf(2));
  expect(["p", "k", "c"].map((name) => index.parentOf(`step_${name}`))).toEqual([null, null, idOf(1)]);
});

test("a job is listed as long as one of its tasks is", () => {
  const { sql, index } = open();
  const jobs = createJobTable(sql, index);
  const ids = [1, 2, 3].map((n) => ({ id: `job_${n}`, input: "https://example.com/a.mp4", created_at: n }));
  for (const [at, head] of ids.entries()) jobs.add(head, [idOf(2 * at), idOf(2 * at + 1)]);
  const list = (query: Partial<ListQuery> = {}) => {
    const { records, more } = jobs.list({ limit: 1, order: "desc", ...query });
    return [records.map(({ head, tasks }) => [head.id, tasks.length]), more];
  };
  expect(list()).toEqual([[], false]);
  for (const n of [0, 1, 2, 4]) index.put(taskOf(n), 1);
  expect(list()).toEqual([[["job_3", 1]], true]);
  expect(list({ after: "job_3" })).toEqual([[["job_2", 1]], true]);
  index.drop(idOf(2));
  expect(list({ after: "job_3" })).toEqual([[["job_1", 2]], false]);
  expect(list({ before: "job_1" })).toEqual([[["job_3", 1]], false]);
});

test("a page of very long records ends before a call between objects is too long, and more follow", () => {
  const { index, list } = open();
  const ids = Array.from({ length: 20 }, (_, n) => `task_${String(n).padStart(26, "0")}`);
  for (const id of ids) index.put({ ...QUEUED, id, metadata: { name: "x".repeat(1_000_000) } } as Task, 1);
  const first = list({ order: "asc" });
  expect([first.records.map(({ id }) => id), first.more]).toEqual([ids.slice(0, 12), true]);
  const rest = list({ order: "asc", after: first.records.at(-1)?.id });
  expect([rest.records.map(({ id }) => id), rest.more]).toEqual([ids.slice(12), false]);
  const before = list({ order: "asc", before: ids[19] });
  expect([before.records.map(({ id }) => id), before.more]).toEqual([ids.slice(7, 19), true]);
});
