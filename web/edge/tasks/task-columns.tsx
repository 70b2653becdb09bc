import { progressOf } from "../../../src/client/index.ts";
import { isFinished, type Task } from "../../../src/index.ts";
import type { Pace } from "../../queue/item.ts";
import { clock, timeLeft } from "../../words/quantities.ts";
import { Badge } from "../shared/badge.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { placeOf } from "../shared/place.ts";
import type { Column } from "../shared/record-table.tsx";
import { When } from "../shared/when.tsx";
import { encodeOf, encoderWords, KIND_WORDS, secondsOf } from "./task-words.ts";

/** The columns of the task list; `paceOf` returns the pace of a task where known. */
export function taskColumns(paceOf: (id: string) => Pace | undefined): Column<Task>[] {
  return [
    { title: "Input", wide: true, cell: (task) => <Input task={task} /> },
    { title: "Kind", cell: ({ kind }) => KIND_WORDS[kind] },
    { title: "Status", cell: (task) => <Status task={task} pace={paceOf(task.id)} /> },
    { title: "Progress", wide: true, cell: (task) => <Outcome task={task} pace={paceOf(task.id)} /> },
    { title: "Created", cell: (task) => <Times task={task} /> },
    { title: "Id", cell: ({ id }) => <Id id={id} /> },
  ];
}

function Input({ task }: { task: Task }) {
  const { host, name } = placeOf(task.input);
  return (
    <div class="place">
      <strong>{name || host}</strong>
      {name && <span class="soft small">{host}</span>}
    </div>
  );
}

function Status({ task, pace }: { task: Task; pace: Pace | undefined }) {
  const progress = pace?.progress ?? progressOf(task);
  return (
    <div class="status">
      <Badge state={task.status} />
      {task.status === "processing" && (
        <div class="progress">
          <progress
            max={100}
            value={progress ?? undefined}
            aria-label={`Progress of ${placeOf(task.input).name}`}
          />
          <span class="small numbers">{progress ?? 0} %</span>
        </div>
      )}
    </div>
  );
}

function Outcome({ task, pace }: { task: Task; pace: Pace | undefined }) {
  if (task.error) return <p class="small bad">{task.error.message}</p>;
  const output = encodeOf(task)?.output;
  if (output?.encoder)
    return (
      <p class="small">
        {encoderWords(output.encoder)}
        {output.reason && <span class="soft"> · {output.reason}</span>}
      </p>
    );
  if (isFinished(task) || !pace?.speed) return null;
  return (
    <p class="small numbers soft">
      {pace.speed.toFixed(1)}× speed{pace.eta !== null && `, ${timeLeft(pace.eta)}`}
    </p>
  );
}

function Times({ task }: { task: Task }) {
  const seconds = secondsOf(task);
  return (
    <div class="place">
      <When at={task.created_at} />
      {seconds !== null && <span class="soft small numbers">took {clock(seconds)}</span>}
    </div>
  );
}

function Id({ id }: { id: string }) {
  return (
    <span class="id nowrap">
      <code title={id}>…{id.slice(-6)}</code>
      <CopyButton text={id} label={`Copy the id ${id}`} />
    </span>
  );
}
