import { expect, test } from "vitest";
import type { Task, TaskStatus, Update } from "../../src/index.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createTask } from "../../src/runs/task.ts";
import { createPaged } from "./records.tsx";
import { toFault } from "./service.ts";
import { createTaskFollower } from "./tasks-view.tsx";

const id = createIds(Math.random);

function taskOf(status: TaskStatus): Task {
  const request = {
    input: "https://example.com/clip.mp4",
    kind: "video",
    options: {},
    metadata: {},
  } as const;
  return { ...createTask(request, id, 1_795_170_600_000), status } as Task;
}

/** A list of tasks with its follower; the test sends the tasks' events. */
async function following(tasks: Task[]) {
  const open = new Map<string, (update: Update<Task>) => void>();
  const list = createPaged<Task>(async () => ({ records: tasks, more: false }), toFault);
  await list.refresh();
  const follower = createTaskFollower(
    {
      async *watch<T>(run: string | object, { signal }: { signal?: AbortSignal } = {}) {
        for (;;) {
          const update = await new Promise<Update<Task> | null>((resolve) => {
            open.set(String(run), resolve);
            signal?.addEventListener("abort", () => resolve(null));
            if (signal?.aborted) resolve(null);
          });
          if (!update) return void open.delete(String(run));
          yield update as Update<T & Task>;
        }
      },
    },
    list,
  );
  return { list, follower, open };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

test("follows at most three unfinished tasks in view, running ones first", async () => {
  const tasks = (["queued", "succeeded", "queued", "processing", "processing", "processing"] as const).map(
    taskOf,
  );
  const ids = tasks.map((task) => task.id);
  const { list, follower, open } = await following(tasks);
  const over = new AbortController();
  follower.run(over.signal);
  for (const each of ids.slice(0, 5)) follower.see(each, true);
  await settle();
  expect([...open.keys()].sort()).toEqual([ids[0], ids[3], ids[4]].sort());

  // A running task that comes into view replaces the queued one.
  follower.see(ids[5] ?? "", true);
  await settle();
  expect([...open.keys()].sort()).toEqual(ids.slice(3).sort());

  // Events update the list, and a finished task makes room.
  const done: Task = { ...taskOf("succeeded"), id: ids[3] ?? "", updated_at: Date.now() };
  open.get(done.id)?.({ record: done, progress: 100, speed: 2, eta: 0, error: null });
  await settle();
  expect(list.records.value?.[3]).toEqual(done);
  expect(follower.paces.value.get(done.id)).toEqual({ progress: 100, speed: 2, eta: 0 });
  expect([...open.keys()].sort()).toEqual([ids[0], ids[4], ids[5]].sort());

  over.abort();
  await settle();
  expect(open.size).toBe(0);
});
