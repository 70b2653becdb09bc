import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import { type Log, nameRun } from "./log.ts";
import { encoderOf } from "./observe-end.ts";

/** Writes the line of a task or a standalone step that has ended. */
export function logEnd(log: Log, project: string, record: Task | Step): void {
  const { object, id, kind, status, error, created_at, finished_at } = record;
  const steps = object === "task" ? record.steps : [record];
  const encoder = steps.map(encoderOf).find((name) => name !== "");
  log("info", {
    message: `${object} ended`,
    ...nameRun(id),
    ...{ project, kind, status, encoder, error: error?.kind },
    ms: (finished_at ?? created_at) - created_at,
  });
}
