import { effect, type ReadonlySignal, type Signal, signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { progressOf } from "../../src/client/index.ts";
import {
  type Client,
  ENCODE_KINDS,
  type EncodeKind,
  isFinished,
  type Step,
  TASK_STATUSES,
  type Task,
  type TaskStatus,
} from "../../src/index.ts";
import type { Pace } from "../queue/item.ts";
import { Field } from "../ui/field.tsx";
import { bytes, clock, timeLeft } from "../words/quantities.ts";
import { ActButton, Badge, Confirm, CopyButton, When, wordOf } from "./controls.tsx";
import { NewTask } from "./new-task.tsx";
import { type Column, createPaged, type Observe, type Paged, Records } from "./records.tsx";
import { usePolling, useService, whileVisible } from "./service.ts";
import * as strings from "./strings.ts";
import { TaskOutput } from "./task-output.tsx";
import { encodeOf, encoderWords, KIND_WORDS, placeOf, STEP_WORDS, secondsOf } from "./task-words.ts";

/** Follows tasks of a list by their events, each of which takes a connection. */
export interface Follower {
  /** The pace of the followed tasks, by id. */
  readonly paces: ReadonlySignal<ReadonlyMap<string, Pace>>;
  see(id: string, seen: boolean): void;
  /** Follows what is in view until the signal aborts. */
  run(signal: AbortSignal): void;
}

// Over HTTP/1.1 a browser opens six connections to a host, and other requests need some too.
const MAX_FOLLOWED = 3;

/** Creates a {@link Follower} of the unfinished tasks in view, at most three at a time, that updates the list. */
export function createTaskFollower(client: Pick<Client, "watch">, list: Paged<Task>): Follower {
  const in_view = signal<ReadonlySet<string>>(new Set());
  const paces = signal<ReadonlyMap<string, Pace>>(new Map());

  async function follow(id: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const { record, progress, speed, eta } of client.watch<Task>(id, { signal })) {
        paces.value = new Map(paces.value).set(id, { progress, speed, eta });
        list.put(record);
      }
    } catch {
      // The list polls on and shows the error.
    }
  }

  return {
    paces,
    see(id, isVisible) {
      const next = new Set(in_view.value);
      if (isVisible) next.add(id);
      else next.delete(id);
      in_view.value = next;
    },
    run(signal) {
      const followed = new Map<string, AbortController>();
      const stop = effect(() => {
        const ids = choose(list.records.value ?? [], in_view.value);
        for (const [id, controller] of followed) {
          if (ids.includes(id)) continue;
          followed.delete(id);
          controller.abort();
        }
        for (const id of ids) {
          if (followed.has(id)) continue;
          const controller = new AbortController();
          followed.set(id, controller);
          void follow(id, AbortSignal.any([signal, controller.signal]));
        }
      });
      signal.addEventListener("abort", stop);
    },
  };
}

function choose(tasks: readonly Task[], in_view: ReadonlySet<string>): string[] {
  const unfinished = tasks.filter((task) => in_view.has(task.id) && !isFinished(task));
  const running = unfinished.filter(({ status }) => status === "processing");
  const waiting = unfinished.filter(({ status }) => status !== "processing");
  return [...running, ...waiting].slice(0, MAX_FOLLOWED).map(({ id }) => id);
}

const POLL_MS = 3000;

export function TasksView() {
  const { client, explain } = useService();
  const filter = useSignal<TaskFilter>({ status: "", kind: "" });
  const dialog = useSignal<"new" | Task | null>(null);
  const { status, kind } = filter.value;
  const [list, follower] = useMemo(() => {
    const filters = { ...(status && { status }), ...(kind && { kind }) };
    const list = createPaged<Task>((query) => client.tasks.list({ ...query, ...filters }), explain);
    return [list, createTaskFollower(client, list)] as const;
  }, [client, explain, status, kind]);
  usePolling(list.refresh, POLL_MS);
  useEffect(() => whileVisible(follower.run), [follower]);
  const observe = useInView(follower.see);
  const columns = taskColumns((id) => follower.paces.value.get(id));
  const close = () => {
    dialog.value = null;
  };

  return (
    <Records
      title={strings.tasks}
      bar={<TaskFilters filter={filter} />}
      add={{
        label: strings.newTask,
        onClick: () => {
          dialog.value = "new";
        },
      }}
      list={list}
      empty={status || kind ? strings.noTasksMatch : strings.noTasks}
      columns={columns}
      nameOf={({ input }) => placeOf(input).name}
      observe={observe}
      details={(task) => <TaskDetails task={task} />}
      actions={(task) => (
        <TaskActions
          task={task}
          put={list.put}
          onDelete={() => {
            dialog.value = task;
          }}
        />
      )}
    >
      <TaskNews tasks={list.records.value} />
      <p class="soft small">{strings.singleSteps}</p>
      {dialog.value === "new" && <NewTask onMade={list.put} onClose={close} />}
      {dialog.value && dialog.value !== "new" && (
        <DeleteTask task={dialog.value} onGone={list.drop} onClose={close} />
      )}
    </Records>
  );
}

function useInView(see: (id: string, seen: boolean) => void): Observe {
  const observer = useMemo(
    () =>
      new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries)
          see(target.getAttribute("data-id") ?? "", isIntersecting);
      }),
    [see],
  );
  useEffect(() => () => observer.disconnect(), [observer]);
  return useCallback(
    (id, row) => {
      observer.observe(row);
      return () => {
        observer.unobserve(row);
        see(id, false);
      };
    },
    [observer, see],
  );
}

function TaskNews({ tasks }: { tasks: readonly Task[] | null }) {
  const [news, setNews] = useState("");
  const unfinished = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const finishedTasks = tasks?.filter((task) => isFinished(task) && unfinished.current.has(task.id)) ?? [];
    unfinished.current = new Set(tasks?.filter((task) => !isFinished(task)).map(({ id }) => id));
    if (finishedTasks.length > 0)
      setNews(
        finishedTasks.map(({ input, status }) => `${placeOf(input).name}: ${wordOf(status)}`).join(", "),
      );
  }, [tasks]);
  return (
    <p class="visually-hidden" role="status">
      {news}
    </p>
  );
}

function taskColumns(paceOf: (id: string) => Pace | undefined): Column<Task>[] {
  return [
    { title: strings.input, wide: true, cell: (task) => <Input task={task} /> },
    { title: strings.kind, cell: ({ kind }) => KIND_WORDS[kind] },
    { title: strings.status, cell: (task) => <Status task={task} pace={paceOf(task.id)} /> },
    { title: strings.progress, wide: true, cell: (task) => <Outcome task={task} pace={paceOf(task.id)} /> },
    { title: strings.created, cell: (task) => <Times task={task} /> },
    { title: strings.id, cell: ({ id }) => <Id id={id} /> },
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
            aria-label={strings.progressOf({ name: placeOf(task.input).name })}
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
      {strings.speed({ factor: pace.speed.toFixed(1) })}
      {pace.eta !== null && `, ${timeLeft(pace.eta)}`}
    </p>
  );
}

function Times({ task }: { task: Task }) {
  const seconds = secondsOf(task);
  return (
    <div class="place">
      <When at={task.created_at} />
      {seconds !== null && <span class="soft small numbers">{strings.took({ time: clock(seconds) })}</span>}
    </div>
  );
}

function Id({ id }: { id: string }) {
  return (
    <span class="id nowrap">
      <code title={id}>…{id.slice(-6)}</code>
      <CopyButton text={id} label={strings.copyId({ id })} />
    </span>
  );
}

/** The tasks to show; an empty string means all. */
interface TaskFilter {
  status: TaskStatus | "";
  kind: EncodeKind | "";
}

function TaskFilters({ filter }: { filter: Signal<TaskFilter> }) {
  const set = (change: Partial<TaskFilter>) => {
    filter.value = { ...filter.value, ...change };
  };
  return (
    <div class="filters">
      <Field label={strings.status}>
        {(control) => (
          <select
            {...control}
            value={filter.value.status}
            onChange={({ currentTarget }) => set({ status: currentTarget.value as TaskStatus | "" })}
          >
            <option value="">{strings.all}</option>
            {TASK_STATUSES.map((status) => (
              <option key={status} value={status}>
                {wordOf(status)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={strings.kind}>
        {(control) => (
          <select
            {...control}
            value={filter.value.kind}
            onChange={({ currentTarget }) => set({ kind: currentTarget.value as EncodeKind | "" })}
          >
            <option value="">{strings.all}</option>
            {ENCODE_KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {KIND_WORDS[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}

function TaskDetails({ task }: { task: Task }) {
  const options = Object.entries(task.options);
  const metadata = Object.keys(task.metadata).length > 0 ? JSON.stringify(task.metadata, null, 2) : null;
  return (
    <div class="task-details">
      <section class="stack tight">
        <h3>{strings.steps}</h3>
        <ol class="steps">
          {task.steps.map((step) => (
            <StepRow key={step.id} step={step} />
          ))}
        </ol>
        <dl class="facts">
          <div>
            <dt>{strings.id}</dt>
            <dd>
              <code>{task.id}</code>
            </dd>
          </div>
          {options.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
        </dl>
        {metadata && (
          <>
            <h3>{strings.metadata}</h3>
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
      <Badge state={step.status} {...(step.status === "processing" && { word: strings.running })} />
      <span class="soft small numbers">{facts.join(" · ")}</span>
      {step.error && (
        <p class="small bad">
          {step.error.message}
          {step.error.retryable && strings.retryMayHelp}
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

function TaskActions({
  task,
  put,
  onDelete,
}: {
  task: Task;
  put: (task: Task) => void;
  onDelete: () => void;
}) {
  const { tasks } = useService().client;
  const of = placeOf(task.input).name;
  if (!isFinished(task))
    return (
      <ActButton
        {...{ label: strings.cancel, of, icon: "cancel", variant: "icon" }}
        act={async () => put(await tasks.cancel(task.id))}
      />
    );
  return (
    <>
      <ActButton
        {...{
          label: task.status === "succeeded" ? strings.runAgain : strings.tryAgain,
          of,
          icon: "refresh",
          variant: "icon",
        }}
        act={async () => put(await tasks.retry(task.id))}
      />
      <ActButton
        {...{ label: strings.remove, of, icon: "remove", variant: "icon" }}
        act={async () => onDelete()}
      />
    </>
  );
}

function DeleteTask({
  task,
  onGone,
  onClose,
}: {
  task: Task;
  onGone: (id: string) => void;
  onClose: () => void;
}) {
  const { tasks } = useService().client;
  const act = async () => {
    await tasks.delete(task.id);
    onGone(task.id);
    onClose();
  };
  return (
    <Confirm title={strings.deleteTask} action={strings.remove} act={act} onClose={onClose}>
      {strings.taskDeletion({ name: placeOf(task.input).name })}
    </Confirm>
  );
}
