import { BUCKETS, METRICS, type Measured, type MetricName, type MetricsReport } from "./metrics.ts";

/** The media type of {@link writePrometheus}. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const OPEN = "framewright_open";
const DATABASE = "framewright_database_bytes";

/** Writes a report as Prometheus reads it: https://prometheus.io/docs/instrumenting/exposition_formats/ */
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
  const named = Object.fromEntries(METRICS[metric].labels.map((name, index) => [name, labels[index] ?? ""]));
  if (counts.length === 0) return [sample(metric, named, sum)];
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return sample(`${metric}_bucket`, { ...named, le: String(BUCKETS[index] ?? "+Inf") }, total);
  });
  return [...buckets, sample(`${metric}_sum`, named, sum), sample(`${metric}_count`, named, total)];
}

function sample(name: string, labels: Record<string, string>, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeText(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}`;
}

function escapeText(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
