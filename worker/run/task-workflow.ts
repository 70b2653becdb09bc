import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import { runStep, runTask } from "../../src/runs/pipeline.ts";
import type { Report } from "../../src/runs/ports.ts";
import { createStepWork } from "../../src/runs/steps/step-work.ts";
import { readEnv } from "../env.ts";
import { createHeavyTurn } from "../limits/heavy-turn.ts";
import { MANY_ATTEMPTS, patiently } from "../network/retry-object-call.ts";
import { createDurably } from "./durably.ts";
import { createRunTools, type RunBegin } from "./run-tools.ts";

/** The engine of one task or standalone step: its instance has the same id, and every piece of its work is remembered. */
export class TaskWorkflow extends WorkflowEntrypoint<Bindings, { id: string }> {
  /** Carries the run out and reports to its TaskObject; media that fails is a state of the record, never a throw. */
  override async run(event: Readonly<WorkflowEvent<{ id: string }>>, step: WorkflowStep): Promise<void> {
    const { id } = event.payload;
    const env = readEnv(this.env);
    // A stub that has failed once stays broken, so each call takes a fresh one.
    const object = () => env.TASK.getByName(id);
    const begun = await patiently(() => object().begin());
    if (begun === null) return;
    const begin: RunBegin = JSON.parse(begun);
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
