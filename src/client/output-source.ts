import { MediaError } from "../core/errors.ts";
import type { Source } from "../core/source.ts";
import type { Step } from "../core/step.ts";
import type { Task as TaskRecord } from "../core/task.ts";

/**
 * Returns the output of a task or step. Throws the error of a run that failed, and `media_not_found` when there is no file,
 * as for a probe.
 */
export function outputSource(record: TaskRecord | Step): Source {
  if (record.error) {
    const { kind, message } = record.error;
    throw new MediaError(kind, message, record.error);
  }
  const last = record.object === "task" ? record.steps.at(-1) : record;
  if (record.status !== "succeeded" || !last?.output) {
    throw new MediaError(
      "media_not_found",
      `There is no output: the ${record.object} is ${record.status}, not succeeded.`,
    );
  }
  if (last.kind === "probe") {
    throw new MediaError("media_not_found", "There is no output: a probe only inspects its input.");
  }
  return last.output;
}
