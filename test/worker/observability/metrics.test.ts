import { expect, test, vi } from "vitest";
import { createIds } from "../../../src/runs/ids.ts";
import { parseTaskRequest } from "../../../src/runs/requests.ts";
import { createTask, type Task } from "../../../src/runs/task.ts";
import { applyToTask, type RunEvent } from "../../../src/runs/transitions.ts";
import { createMetricTable, observeEnd, writePoints, writePrometheus } from "../../../worker/metrics.ts";
import { createMemoryApi, KEY } from "../api/memory-api.ts";
import { createMemorySql } from "../api/memory-connections.ts";

const source = { object: "source", url: "https://example.com/a", kind: "video", format: "mp4" } as const;

/** A task created at 0 whose steps took the given seconds; the first step without a time fails. */
function taskOf(seconds: readonly number[]): Task {
  const request = parseTaskRequest({ input: source.url, kind: "video" });
  let task = createTask(request, createIds(Math.random), 0);
  let now = 0;
  const apply = (event: RunEvent) => {
    task = applyToTask(task, event, now);
  };
  for (const [index, { id: step_id, kind }] of task.steps.entries()) {
    apply({ type: "step_started", step_id, input: source });
    const lasted = seconds[index];
    if (lasted === undefined) {
      const error = { kind: "encode_failed", message: "It did not.", retryable: false } as const;
      apply({ type: "step_failed", step_id, error });
      break;
    }
    now += lasted * 1000;
    const output = kind === "video" ? { ...source, duration: 12.5, encoder: "native" } : source;
    apply({ type: "step_succeeded", step_id, output });
  }
  return task;
}

function createTable() {
  const sql = createMemorySql();
  sql.exec("CREATE TABLE run (id TEXT PRIMARY KEY, object TEXT NOT NULL, status TEXT NOT NULL)");
  return { sql, table: createMetricTable(sql) };
}

test("measures the end of a task, its steps and its encoder", () => {
  const good = taskOf([0.5, 2, 40, 1]);
  expect([good.status, observeEnd(good)]).toEqual([
    "succeeded",
    [
      { metric: "framewright_task_seconds", labels: ["video", "succeeded"], value: 43.5 },
      { metric: "framewright_step_seconds", labels: ["probe", "succeeded", ""], value: 0.5 },
      { metric: "framewright_step_seconds", labels: ["ingest", "succeeded", ""], value: 2 },
      { metric: "framewright_step_seconds", labels: ["video", "succeeded", "native"], value: 40 },
      { metric: "framewright_encoded_media_seconds_total", labels: ["native"], value: 12.5 },
      { metric: "framewright_step_seconds", labels: ["upload", "succeeded", ""], value: 1 },
    ],
  ]);
  // Steps that never started are left out.
  expect(observeEnd(taskOf([0.5]))).toEqual([
    { metric: "framewright_task_seconds", labels: ["video", "failed"], value: 0.5 },
    { metric: "framewright_step_seconds", labels: ["probe", "succeeded", ""], value: 0.5 },
    { metric: "framewright_step_seconds", labels: ["ingest", "failed", ""], value: 0 },
    { metric: "framewright_errors_total", labels: ["task", "encode_failed"], value: 1 },
  ]);
});

test("counts and timings add up in the table, survive a restart and are written in Prometheus format", () => {
  const { sql, table } = createTable();
  for (const seconds of [0.5, 1, 4, 20_000]) {
    table.add([{ metric: "framewright_task_seconds", labels: ["video", "succeeded"], value: seconds }]);
  }
  table.add([{ metric: "framewright_errors_total", labels: ["task", 'a "quoted"\n\\ kind'], value: 1 }]);
  table.add([{ metric: "framewright_errors_total", labels: ["task", 'a "quoted"\n\\ kind'], value: 2 }]);
  for (const [id, status] of ["queued", "processing", "processing", "failed"].entries()) {
    sql.exec("INSERT INTO run (id, object, status) VALUES (?, 'task', ?)", String(id), status);
  }
  // A new object over the same database.
  const after = createMetricTable(sql);
  const text = writePrometheus({ measured: after.read(), open: after.open(), database_bytes: 4096 });
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const labels = 'kind="video",status="succeeded"';
  expect(samples).toEqual([
    ...[1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, "+Inf"].map(
      (le, index) =>
        `framewright_task_seconds_bucket{${labels},le="${le}"} ${[2, 2, 3, 3, 3, 3, 3, 3, 3, 4][index]}`,
    ),
    `framewright_task_seconds_sum{${labels}} 20005.5`,
    `framewright_task_seconds_count{${labels}} 4`,
    'framewright_errors_total{object="task",kind="a \\"quoted\\"\\n\\\\ kind"} 3',
    'framewright_open{object="task",status="processing"} 2',
    'framewright_open{object="task",status="queued"} 1',
    "framewright_database_bytes 4096",
  ]);
  expect(text.endsWith("\n")).toBe(true);
  expect(text.match(/^# TYPE .*$/gm)).toEqual([
    "# TYPE framewright_task_seconds histogram",
    "# TYPE framewright_step_seconds histogram",
    "# TYPE framewright_encoded_media_seconds_total counter",
    "# TYPE framewright_errors_total counter",
    "# TYPE framewright_open gauge",
    "# TYPE framewright_database_bytes gauge",
  ]);
});

test("writes the same to Analytics Engine where it is bound, and only logs its faults", () => {
  const points: object[] = [];
  const observations = observeEnd(taskOf([1]));
  writePoints({ writeDataPoint: (point) => points.push(point) }, "mine", observations);
  expect(points).toHaveLength(observations.length);
  expect(points[0]).toEqual({
    indexes: ["mine"],
    blobs: ["framewright_task_seconds", "video", "failed"],
    doubles: [1],
  });
  writePoints(undefined, "mine", observations);
  const broken = () => {
    throw new Error("too many points");
  };
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  writePoints({ writeDataPoint: broken }, "mine", observations);
  expect(log.mock.calls.map(([text]) => JSON.parse(String(text)))).toMatchObject([
    { level: "error", message: "analytics failed", project: "mine" },
  ]);
  log.mockRestore();
});

test("reading metrics needs the scope admin", async () => {
  const { app } = createMemoryApi();
  const read = (headers: HeadersInit) => app.request("/metrics", { headers });
  const answer = await read(KEY);
  expect([answer.status, answer.headers.get("Content-Type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  expect(await answer.text()).toContain("# TYPE framewright_task_seconds histogram\n");
  const body = JSON.stringify({ name: "A reader and writer", scopes: ["read", "write"] });
  const headers = { ...KEY, "Content-Type": "application/json" };
  const { secret } = (await (await app.request("/keys", { method: "POST", headers, body })).json()) as {
    secret: string;
  };
  const refused = await read({ Authorization: `Bearer ${secret}` });
  expect([refused.status, await refused.json()]).toMatchObject([403, { kind: "forbidden" }]);
  expect((await read({})).status).toBe(401);
});
