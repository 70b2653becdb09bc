import { toMediaError } from "../media/errors.ts";
import type { EncodeRequest } from "../media/options.ts";
import { type ExternalFile, renameFacts, type Source } from "../media/source.ts";
import * as errors from "./errors.ts";
import type { Durably, Report, StepContext, StepWork } from "./ports.ts";
import { runErrorOf, type Step } from "./step.ts";
import type { Task } from "./task.ts";

/** Runs a task's steps in order and reports every change. Never rejects because of bad media: failure is a state. */
export async function runTask(task: Task, work: StepWork, report: Report, durably: Durably): Promise<void> {
  let media: Source | ExternalFile = { object: "external_file", url: task.input };
  for (const step of task.steps) {
    const output = await runStep({ ...step, input: media }, task.id, work, report, durably, task);
    if (!output) return;
    media = output;
  }
}

/** Runs a step, in a task or standalone, and reports its end; resolves with its output, or null after a failure or cancellation. */
export async function runStep(
  step: Step,
  run_id: string,
  work: StepWork,
  report: Report,
  durably: Durably,
  task: EncodeRequest | null = null,
): Promise<Source | null> {
  const { id: step_id, input } = step;
  if (!(await report({ type: "step_started", step_id, input }))) return null;
  const context: StepContext = {
    run_id,
    step,
    durably,
    async progress(percent) {
      if (!(await report({ type: "step_progressed", step_id, progress: percent }))) throw new RunOver();
    },
    async reportChoice(choice) {
      if (!(await report({ type: "encoder_chosen", step_id, choice }))) throw new RunOver();
    },
  };
  let output: Source;
  try {
    output = await workOf(step, task, work, context);
  } catch (thrown) {
    if (thrown instanceof RunOver) return null;
    await report({ type: "step_failed", step_id, error: runErrorOf(toMediaError(thrown)) });
    return null;
  }
  return (await report({ type: "step_succeeded", step_id, output })) ? output : null;
}

/** Thrown in a step's work when its run was cancelled or deleted: the work stops at once and reports nothing. */
export class RunOver extends Error {
  override readonly name = "RunOver";
}

function workOf(
  step: Step,
  task: EncodeRequest | null,
  work: StepWork,
  context: StepContext,
): Promise<Source> {
  const { input } = step;
  if (!input) throw errors.stepInputMissing();
  if (step.kind === "probe") return work.probe(input.url, context);
  const source: Source =
    input.object === "source"
      ? renameFacts(input)
      : { object: "source", url: input.url, kind: "video", format: "unknown" };
  if (step.kind === "ingest") return work.ingest(source, context);
  if (step.kind === "upload") return work.upload(source, context);
  return work.encode(source, task ?? step, context);
}
