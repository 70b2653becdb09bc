import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";

/** The key of a record's mirror in KV. */
export function mirrorKey(record: Pick<Task | Step, "id" | "object">): string {
  return `${record.object}:${record.id}`;
}
