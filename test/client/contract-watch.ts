import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { deepEqual, equal, ok, rejects } from "../browser/assert.ts";
import { type ClientClauses, createSilent } from "./contract-case.ts";

/** Waiting for runs and watching them. */
export const WATCHES: ClientClauses = [
  {
    name: "stops waiting when the signal aborts, while the task continues",
    async check(context) {
      const { client } = context;
      const task = await createSilent(context);
      const reason = new Error("the visitor left");
      const stop = new AbortController();
      const waiting = client.tasks.wait(task, { signal: stop.signal });
      stop.abort(reason);
      const thrown: unknown = await waiting.catch((error: unknown) => error);
      equal(thrown, reason);
      equal(await client.tasks.wait(task, { signal: stop.signal }).catch((error: unknown) => error), reason);
      ok(!isFinished(await client.tasks.get(task.id)));
      await client.tasks.cancel(task.id);
    },
  },
  {
    name: "sends every listener the same updates, and none after it has unsubscribed",
    async check(context) {
      const { client } = context;
      const task = await createSilent(context);
      const [unsubscribed, first, second]: [Task[], Task[], Task[]] = [[], [], []];
      const leave = client.on(task, "update", ({ record }) => unsubscribed.push(record));
      leave();
      client.on(task, "update", ({ record }) => first.push(record));
      // A later listener gets the current record too.
      await until(() => first.length > 0);
      client.on<Task>(task.id, "update", ({ record }) => second.push(record));
      await until(() => second.length > 0);
      // More updates may have followed its first.
      deepEqual(second, first.slice(-second.length));
      const cancelled = await client.tasks.cancel(task.id);
      await client.tasks.wait(task);
      deepEqual([unsubscribed.length, first.at(-1), second.at(-1)], [0, cancelled, cancelled]);
      const late: Task[] = [];
      client.on(cancelled, "update", ({ record }) => late.push(record));
      await until(() => late.length > 0);
      deepEqual(late, [cancelled]);
    },
  },
  {
    name: "yields the updates of a task up to its end, and rejects when the signal aborts",
    async check(context) {
      const { client } = context;
      const task = await createSilent(context);
      const events = client.watch(task);
      const first = await events.next();
      equal(first.value?.record.id, task.id);
      const stop = new AbortController();
      const reason = new Error("the visitor left");
      const others = client.watch<Task>(task.id, { signal: stop.signal });
      await others.next();
      stop.abort(reason);
      equal(await others.next().catch((error: unknown) => error), reason);
      const cancelled = await client.tasks.cancel(task.id);
      let last = first.value?.record;
      for await (const { record } of events) last = record;
      deepEqual(last, cancelled);
      const late = client.watch(task.id);
      deepEqual((await late.next()).value?.record, cancelled);
      equal((await late.next()).done, true);
      await rejects(client.watch("task_01kbb1d3x4e8v0t6m9q2y5z7av").next(), { kind: "task_not_found" });
      await rejects(client.watch("step_01kbb1d3x4e8v0t6m9q2y5z7av").next(), { kind: "step_not_found" });
    },
  },
  {
    name: "follows the steps of a task to their ends",
    async check(context) {
      const { client, inputs } = context;
      const options = { format: "png", width: 40 } as const;
      const created = await client.tasks.create({ input: inputs.video, kind: "image", options });
      const ends = await Promise.all(created.steps.map((step) => client.steps.wait(step.id)));
      const done = await client.tasks.wait(created);
      deepEqual([done.status, ends], ["succeeded", done.steps]);

      const task = await createSilent(context);
      const [probe, , encode] = task.steps;
      const states: Step[] = [];
      client.on<Step>(encode?.id ?? "", "update", ({ record }) => states.push(record));
      const updates = client.watch<Step>(probe?.id ?? "");
      for await (const { record } of updates) if (record.status === "processing") break;
      const waiting = client.steps.wait(probe?.id ?? "");
      await until(() => states.length > 0);
      const { steps } = await client.tasks.cancel(task.id);
      deepEqual(await waiting, steps[0]);
      await until(() => states.at(-1)?.status === "cancelled");
      deepEqual(states, [encode, steps[2]]);
      await client.tasks.delete(task.id);
      await rejects(client.steps.wait(probe?.id ?? ""), { kind: "step_not_found" });
    },
  },
];

async function until(check: () => boolean, seconds = 20): Promise<void> {
  for (const end = Date.now() + seconds * 1000; !check(); ) {
    ok(Date.now() < end, "timed out");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
