/** What is measured of a project's work. A histogram counts by how long something took, a counter adds up. */
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

/** The name of something that is measured. */
export type MetricName = keyof typeof METRICS;

/** Upper bounds of a histogram's buckets, in seconds; what is longer still is in the last one, which has none. */
export const BUCKETS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000] as const;

/** One thing that was measured. */
export interface Observation {
  metric: MetricName;
  /** In the order of the metric's names of labels. */
  labels: readonly string[];
  /** Seconds, or what a counter goes up by. */
  value: number;
}

/** What one metric has come to, for one set of labels. */
export interface Measured {
  metric: MetricName;
  labels: readonly string[];
  /** The sum of all values. */
  sum: number;
  /** Of a histogram, how many values lie in each bucket, the last without a bound; empty for a counter. */
  counts: readonly number[];
}

/** How many tasks or standalone steps of a status there are that have not ended. */
export interface Open {
  object: string;
  status: string;
  count: number;
}

/** All that is measured of a project. */
export interface MetricsReport {
  measured: Measured[];
  open: Open[];
  /** Bytes of the project's database: records, events, deliveries and all else. */
  database_bytes: number;
}
