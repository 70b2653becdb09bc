import { logFault } from "./log.ts";
import { BUCKETS, METRICS, type Measured, type MetricName, type Observation, type Open } from "./metrics.ts";
import type { Sql } from "./sql.ts";

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
const OPEN = `SELECT object, status, COUNT(*) AS count FROM run
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
    open: () => [...sql.exec<Open & Record<string, string | number>>(OPEN)].map((row) => ({ ...row })),
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
