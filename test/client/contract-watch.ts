import type { Task } from "../../src/core/task.ts";
import { isFinished } from "../../src/core/transitions.ts";
import { deepEqual, equal, ok, rejects } from "../browser/assert.ts";
import { type ClientClauses, createSilent } from "./contract-case.ts";

/** What those hear who wait for a run or listen to it. */
export const WATCHES: ClientClauses = [
  {
    name: "stops waiting when the signal aborts, and the task goes on",
    async check(given) {
      const { client } = given;
      const task = await createSilent(given);
      const gone = new Error("the visitor left");
      const stop = new AbortController();
      const waiting = client.tasks.wait(task, { signal: stop.signal });
      stop.abort(gone);
      const thrown: unknown = await waiting.catch((error: unknown) => error);
      equal(thrown, gone);
      equal(await client.tasks.wait(task, { signal: stop.signal }).catch((error: unknown) => error), gone);
      ok(!isFinished(await client.tasks.get(task.id)));
      await client.tasks.cancel(task.id);
    },
  },
  {
    name: "tells every listener the same, and nothing to one that left",
    async check(given) {
      const { client } = given;
      const task = await createSilent(given);
      const [left, first, second]: [Task[], Task[], Task[]] = [[], [], []];
      const leave = client.on(task, "update", ({ record }) => left.push(record));
      leave();
      client.on(task, "update", ({ record }) => first.push(record));
      // Whoever comes later hears how it stands as well.
      await until(() => first.length > 0);
      client.on<Task>(task.id, "update", ({ record }) => second.push(record));
      await until(() => second.length > 0);
      // Its first may be followed by others already.
      deepEqual(second, first.slice(-second.length));
      const cancelled = await client.tasks.cancel(task.id);
      await client.tasks.wait(task);
      deepEqual([left.length, first.at(-1), second.at(-1)], [0, cancelled, cancelled]);
      const late: Task[] = [];
      client.on(cancelled, "update", ({ record }) => late.push(record));
      await until(() => late.length > 0);
      deepEqual(late, [cancelled]);
    },
  },
  {
    name: "gives the updates of a task one by one, to its end, and stops for a signal",
    async check(given) {
      const { client } = given;
      const task = await createSilent(given);
      const events = client.watch(task);
      const first = await events.next();
      equal(first.value?.record.id, task.id);
      const stop = new AbortController();
      const gone = new Error("the visitor left");
      const others = client.watch<Task>(task.id, { signal: stop.signal });
      await others.next();
      stop.abort(gone);
      equal(await others.next().catch((error: unknown) => error), gone);
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
];

async function until(check: () => boolean, seconds = 20): Promise<void> {
  for (const end = Date.now() + seconds * 1000; !check(); ) {
    ok(Date.now() < end, "it did not come to pass in time");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
