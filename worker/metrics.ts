import type { Step } from "../src/runs/step.ts";
import type { Task } from "../src/runs/task.ts";
import { encoderOf, logFault } from "./log.ts";
import type { Sql } from "./sql.ts";

/** The metrics of a project's work. Histograms count durations, counters add up values. */
export const METRICS = {
  framewright_task_seconds: {
    type: "histogram",
    help: "Tasks that ended, by the seconds from their creation.",
    labels: ["kind", "status"],
  },
  framewright_step_seconds: {
    type: "histogram",
    help: "Steps that ended after they had started, by the seconds from their start. The encoder is that of an encode that succeeded.",
    labels: ["kind", "status", "encoder"],
  },
  framewright_encoded_media_seconds_total: {
    type: "counter",
    help: "Seconds of video and sound that encoders put out.",
    labels: ["encoder"],
  },
  framewright_errors_total: {
    type: "counter",
    help: "Tasks and standalone steps that failed, by the kind of their error.",
    labels: ["object", "kind"],
  },
} as const satisfies Record<
  string,
  { type: "histogram" | "counter"; help: string; labels: readonly string[] }
>;

/** The name of a metric. */
export type MetricName = keyof typeof METRICS;

/** Upper bounds of a histogram's buckets, in seconds; one more bucket has no bound. */
export const BUCKETS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000] as const;

/** One measurement. */
export interface Observation {
  metric: MetricName;
  /** Label values, in the order of the metric's label names. */
  labels: readonly string[];
  /** Seconds, or the increment of a counter. */
  value: number;
}

/** The values of a metric for one set of labels. */
export interface Measured {
  metric: MetricName;
  labels: readonly string[];
  /** The sum of all values. */
  sum: number;
  /** The number of values in each bucket of a histogram, the last without a bound; empty for a counter. */
  counts: readonly number[];
}

/** The number of unfinished tasks or standalone steps with a status. */
export interface Open {
  object: string;
  status: string;
  count: number;
}

/** All metrics of a project. */
export interface MetricsReport {
  measured: Measured[];
  open: Open[];
  /** Bytes of the project's database. */
  database_bytes: number;
}

/** Returns the observations of a finished task, including its steps, or of a standalone step. */
export function observeEnd(record: Task | Step): Observation[] {
  const { object, error } = record;
  const errors: Observation[] = error
    ? [{ metric: "framewright_errors_total", labels: [object, error.kind], value: 1 }]
    : [];
  if (object === "step") return [...observeStep(record), ...errors];
  const labels = [record.kind, record.status];
  const value = secondsBetween(record.created_at, record.finished_at);
  return [
    { metric: "framewright_task_seconds", labels, value },
    ...record.steps.flatMap(observeStep),
    ...errors,
  ];
}

function observeStep({ kind, status, output, started_at, finished_at }: Step): Observation[] {
  if (started_at === null) return [];
  const encoder = encoderOf({ kind, output });
  const value = secondsBetween(started_at, finished_at);
  const observation: Observation = {
    metric: "framewright_step_seconds",
    labels: [kind, status, encoder],
    value,
  };
  const media = encoder === "" ? 0 : (output?.duration ?? 0);
  if (media === 0) return [observation];
  return [
    observation,
    { metric: "framewright_encoded_media_seconds_total", labels: [encoder], value: media },
  ];
}

function secondsBetween(from: number, to: number | null): number {
  return Math.max(0, ((to ?? from) - from) / 1000);
}

/** The media type of {@link writePrometheus}. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const OPEN = "framewright_open";
const DATABASE = "framewright_database_bytes";

/** Writes a report in Prometheus's text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export function writePrometheus({ measured, open, database_bytes }: MetricsReport): string {
  const names = Object.keys(METRICS) as MetricName[];
  const blocks = names.map((name) => {
    const { type, help } = METRICS[name];
    const samples = measured.filter(({ metric }) => metric === name).flatMap(samplesOf);
    return [...head(name, type, help), ...samples];
  });
  const gauges = open.map(({ object, status, count }) => sample(OPEN, { object, status }, count));
  const gauge = [...head(OPEN, "gauge", "Tasks and standalone steps that have not ended."), ...gauges];
  const help = "Bytes of the project's records, events and deliveries.";
  const database = [...head(DATABASE, "gauge", help), sample(DATABASE, {}, database_bytes)];
  return `${[...blocks, gauge, database].flat().join("\n")}\n`;
}

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function samplesOf({ metric, labels, sum, counts }: Measured): string[] {
  const labelValues = Object.fromEntries(
    METRICS[metric].labels.map((name, index) => [name, labels[index] ?? ""]),
  );
  if (counts.length === 0) return [sample(metric, labelValues, sum)];
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return sample(`${metric}_bucket`, { ...labelValues, le: String(BUCKETS[index] ?? "+Inf") }, total);
  });
  return [
    ...buckets,
    sample(`${metric}_sum`, labelValues, sum),
    sample(`${metric}_count`, labelValues, total),
  ];
}

function sample(name: string, labels: Record<string, string>, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeText(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}`;
}

function escapeText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** The metrics of one project. */
export interface MetricTable {
  add(observations: readonly Observation[]): void;
  read(): Measured[];
  /** Counts unfinished records in the table `run` of the project's index. */
  open(): Open[];
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS metric (
    metric TEXT NOT NULL, labels TEXT NOT NULL, bucket INTEGER NOT NULL, value REAL NOT NULL,
    PRIMARY KEY (metric, labels, bucket)
  ) WITHOUT ROWID;
`;
const SUM = -1;
const ADD = `INSERT INTO metric (metric, labels, bucket, value) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET value = value + excluded.value`;
const SELECT_OPEN = `SELECT object, status, COUNT(*) AS count FROM run
  WHERE object IN ('task', 'step') AND status IN ('queued', 'waiting', 'processing') GROUP BY object, status`;

/** Creates the table of metrics beside the index of runs. It does not count requests, so that they cost no write. */
export function createMetricTable(sql: Sql): MetricTable {
  sql.exec(SCHEMA);
  return {
    add(observations) {
      for (const { metric, labels, value } of observations) {
        const text = JSON.stringify(labels);
        sql.exec(ADD, metric, text, SUM, value);
        if (METRICS[metric].type === "histogram") sql.exec(ADD, metric, text, bucketOf(value), 1);
      }
    },
    read() {
      const rows = [...sql.exec<Row>("SELECT * FROM metric ORDER BY metric, labels, bucket")];
      const current = rows.filter((row): row is Row & { metric: MetricName } =>
        Object.hasOwn(METRICS, row.metric),
      );
      const groups = Map.groupBy(current, ({ metric, labels }) => `${metric} ${labels}`);
      return [...groups.values()].flatMap((group) => {
        const [first] = group;
        return first ? [measuredOf(first, group)] : [];
      });
    },
    open: () => [...sql.exec<Open & Record<string, string | number>>(SELECT_OPEN)].map((row) => ({ ...row })),
  };
}

type Row = { metric: string; labels: string; bucket: number; value: number };

function bucketOf(value: number): number {
  const index = BUCKETS.findIndex((bound) => value <= bound);
  return index < 0 ? BUCKETS.length : index;
}

function measuredOf({ metric, labels }: Row & { metric: MetricName }, group: readonly Row[]): Measured {
  const valueIn = (bucket: number) => group.find((row) => row.bucket === bucket)?.value ?? 0;
  const histogram = METRICS[metric].type === "histogram";
  return {
    metric,
    labels: JSON.parse(labels) as string[],
    sum: valueIn(SUM),
    counts: histogram ? Array.from({ length: BUCKETS.length + 1 }, (_, bucket) => valueIn(bucket)) : [],
  };
}

/** The methods of an Analytics Engine dataset that are used here. */
export interface Dataset {
  writeDataPoint(point: { indexes: string[]; blobs: string[]; doubles: number[] }): void;
}

/**
 * Writes observations to Analytics Engine if a dataset is bound: the index is the project, the blobs are the metric and its labels in
 * order, the double is the value. Does not wait, and logs errors instead of throwing.
 */
export function writePoints(
  dataset: Dataset | undefined,
  project: string,
  observations: readonly Observation[],
): void {
  if (!dataset) return;
  try {
    for (const { metric, labels, value } of observations) {
      // An index may have 96 bytes; project names have at most 64.
      dataset.writeDataPoint({ indexes: [project], blobs: [metric, ...labels], doubles: [value] });
    }
  } catch (thrown) {
    logFault("analytics failed", thrown, { project });
  }
}
