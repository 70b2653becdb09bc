import type { Step, Task } from "../../../src/index.ts";
import { bytes, clock } from "../../words/quantities.ts";
import { Badge } from "../shared/badge.tsx";
import { TaskOutput } from "./task-output.tsx";
import { encoderWords, STEP_WORDS, secondsOf } from "./task-words.ts";

/** A task in full: its steps, options and output. */
export function TaskDetails({ task }: { task: Task }) {
  const wishes = Object.entries(task.options);
  const metadata = Object.keys(task.metadata).length > 0 ? JSON.stringify(task.metadata, null, 2) : null;
  return (
    <div class="task-details">
      <section class="stack tight">
        <h3>Steps</h3>
        <ol class="steps">
          {task.steps.map((step) => (
            <StepRow key={step.id} step={step} />
          ))}
        </ol>
        <dl class="facts">
          <div>
            <dt>Id</dt>
            <dd>
              <code>{task.id}</code>
            </dd>
          </div>
          {wishes.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
        </dl>
        {metadata && (
          <>
            <h3>Metadata</h3>
            <pre>{metadata}</pre>
          </>
        )}
      </section>
      {task.status === "succeeded" && <TaskOutput task={task} />}
    </div>
  );
}

function StepRow({ step }: { step: Step }) {
  const seconds = secondsOf(step);
  const facts = [
    step.status === "processing" && step.progress !== null && `${step.progress} %`,
    seconds !== null && clock(seconds, true),
    step.output?.filesize !== undefined && bytes(step.output.filesize),
    step.output?.width !== undefined && `${step.output.width} × ${step.output.height}`,
  ].filter((fact) => fact !== false);
  return (
    <li>
      <span class="name">{STEP_WORDS[step.kind]}</span>
      <Badge state={step.status} {...(step.status === "processing" && { word: "Running" })} />
      <span class="soft small numbers">{facts.join(" · ")}</span>
      {step.error && (
        <p class="small bad">
          {step.error.message}
          {step.error.retryable && " Trying again may help."}
        </p>
      )}
      {step.kind !== "upload" && step.output?.encoder && (
        <p class="small soft">
          {encoderWords(step.output.encoder)}
          {step.output.reason && `: ${step.output.reason}`}
        </p>
      )}
    </li>
  );
}
