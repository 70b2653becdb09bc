import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";

/** S3 storage that the output of a run is to go to. */
export interface S3Destination {
  /** `s3://<bucket>/<key>`. */
  url: string;
  /** The connection that is asked for; null for the default one. */
  connection_id: string | null;
}

/** Where the output of a run goes; null for those that stay here. */
export function destinationOf(record: Task | Step): S3Destination | null {
  if (record.object === "task") {
    return record.output?.startsWith("s3://") ? { url: record.output, connection_id: null } : null;
  }
  const { url, connection_id = null } = record.options;
  return record.kind === "upload" ? ({ url, connection_id } as S3Destination) : null;
}
