import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { MediaError, toMediaError } from "../../src/media/errors.ts";
import { RunOver, runStep, runTask } from "../../src/runs/pipeline.ts";
import type { Durably, Report } from "../../src/runs/ports.ts";
import { type RunError, runErrorOf } from "../../src/runs/step.ts";
import { createStepWork } from "../../src/runs/steps/step-work.ts";
import { type Env, readEnv } from "../env.ts";
import { logFault, nameRun } from "../log.ts";
import { MANY_ATTEMPTS, patiently } from "../network/durable-objects.ts";
import { ATTEMPTS } from "./schedule.ts";
import type { TaskObject } from "./task-object.ts";
import { createRunTools, type RunBegin } from "./tools.ts";
import { createHeavyTurn } from "./workflow-instance.ts";

/** The workflow of one task or standalone step: its instance has the run's id, and the outcome of each piece of work is stored. */
export class TaskWorkflow extends WorkflowEntrypoint<Bindings, { id: string }> {
  /** Carries out the run and reports to its TaskObject. Media errors become a state of the record and are never thrown. */
  override async run(event: Readonly<WorkflowEvent<{ id: string }>>, step: WorkflowStep): Promise<void> {
    const { id } = event.payload;
    const env = readEnv(this.env);
    // A stub that has failed once stays broken, so each call takes a fresh one.
    const object = () => env.TASK.getByName(id);
    const text = await patiently(() => object().begin());
    if (text === null) return;
    const begin: RunBegin = JSON.parse(text);
    const { record } = begin;
    const report: Report = (change) =>
      patiently(() => object().report(change), change.type === "step_succeeded" ? MANY_ATTEMPTS : undefined);
    const durably = createDurably(step, object, env, id);
    const tools = createRunTools(env, begin, createHeavyTurn(step, object));
    const work = createStepWork(tools, record.object === "task" ? record : null);
    if (record.object === "task") await runTask(record, work, report, durably);
    else await runStep(record, id, work, report, durably);
  }
}

const STEP_TIMEOUT = "6 hours";

type Outcome<T> = { value: T } | { over: true } | { error: Omit<RunError, "step_id"> };

/**
 * Creates the edge's {@link Durably}: each piece of work is a step of the Workflow. Retryable errors are retried with a growing delay;
 * any other error is stored as the outcome. Work in progress reports to the TaskObject, and aborts when the run has ended.
 */
function createDurably(
  step: WorkflowStep,
  object: () => DurableObjectStub<TaskObject>,
  env: Env,
  run_id: string,
): Durably {
  const beat_ms = Math.min(5000, (env.settings.WATCH_SECONDS * 1000) / 3);
  const listen = createListener(object, beat_ms);
  return async <T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const retries = { limit: ATTEMPTS - 1, delay: "2 seconds", backoff: "exponential" } as const;
    const text = await step.do(name, { retries, timeout: STEP_TIMEOUT }, async ({ attempt }) => {
      const controller = new AbortController();
      const stopListening = listen(controller);
      try {
        return JSON.stringify({ value: await work(controller.signal) } satisfies Outcome<T>);
      } catch (thrown) {
        if (controller.signal.aborted || thrown instanceof RunOver) return JSON.stringify({ over: true });
        const error = toMediaError(thrown);
        logFault("attempt failed", error, { ...nameRun(run_id), work: name, attempt, kind: error.kind });
        if (error.retryable && attempt < ATTEMPTS) throw error;
        return JSON.stringify({ error: runErrorOf(error) } satisfies Outcome<T>);
      } finally {
        stopListening();
      }
    });
    const outcome: Outcome<T> = JSON.parse(text);
    if ("over" in outcome) throw new RunOver();
    if ("error" in outcome) throw new MediaError(outcome.error.kind, outcome.error.message, outcome.error);
    return outcome.value;
  };
}

/**
 * Returns a function that reports to the object while a piece of work is in progress and aborts the work once the run has ended. It
 * returns the function that ends the reports. All pieces of work share one pending call.
 */
function createListener(
  object: () => DurableObjectStub<TaskObject>,
  ms: number,
): (controller: AbortController) => () => void {
  const pieces = new Set<AbortController>();
  let listening = false;
  const loop = async () => {
    while (pieces.size > 0) {
      try {
        if (await object().listen(ms)) continue;
        for (const piece of pieces) piece.abort(new RunOver());
        pieces.clear();
      } catch {
        await scheduler.wait(ms);
      }
    }
    listening = false;
  };
  return (controller) => {
    pieces.add(controller);
    if (!listening) {
      listening = true;
      void loop();
    }
    return () => {
      pieces.delete(controller);
    };
  };
}
