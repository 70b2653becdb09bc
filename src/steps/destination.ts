import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";

export interface S3Destination {
  /** `s3://<bucket>/<key>`. */
  url: string;
  /** The requested connection; null for the default one. */
  connection_id: string | null;
}

/** Returns where the output of a run goes; null when it stays in managed storage. */
export function destinationOf(record: Task | Step): S3Destination | null {
  if (record.object === "task") {
    return record.output?.startsWith("s3://") ? { url: record.output, connection_id: null } : null;
  }
  if (record.kind !== "upload" || record.options.url === undefined) return null;
  const { url, connection_id = null } = record.options;
  return { url, connection_id };
}
