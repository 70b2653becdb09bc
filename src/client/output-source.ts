import { MediaError } from "../core/errors.ts";
import type { Source } from "../core/source.ts";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";

/** Gives the file that a task or step made; throws `media_not_found` when it did not succeed, or made none, as a probe. */
export function outputSource(record: Task | Step): Source {
  const last = record.object === "task" ? record.steps.at(-1) : record;
  if (record.status !== "succeeded" || !last?.output) {
    throw new MediaError(
      "media_not_found",
      `There is no output: the ${record.object} is ${record.status}, not succeeded.`,
    );
  }
  if (last.kind === "probe") {
    throw new MediaError("media_not_found", "There is no output: a probe only looks into its input.");
  }
  return last.output;
}
