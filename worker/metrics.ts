import type { Step } from "../src/runs/step.ts";
import type { Task } from "../src/runs/task.ts";

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

/** Returns the name of the encoder that made a step's output; empty when none did. */
export function encoderOf({ kind, output }: Pick<Step, "kind" | "output">): string {
  // These steps copy the encoder from the source that they read.
  if (kind === "probe" || kind === "ingest" || kind === "upload") return "";
  const name = (output as { encoder?: unknown } | null)?.encoder;
  return typeof name === "string" ? name : "";
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
