import { signal } from "@preact/signals";
import type { LocalClient } from "../../src/browser/index.ts";
import { MediaError, type MediaInput, type NewTask, type Task } from "../../src/index.ts";
import type { Edge } from "../edge/edge.ts";
import { defaultWishes } from "../options/default-wishes.ts";
import type { Item } from "./item.ts";
import { type Queue, stateOf } from "./queue.ts";

/** Builds the {@link Queue} of a page over its clients. */
export function createQueue(device: LocalClient, edge: Edge): Queue {
  const items = signal<readonly Item[]>([]);
  const find = (id: string) => items.value.find((item) => item.id === id);
  const change = (id: string, changes: Partial<Item>) => {
    items.value = items.value.map((item) => (item.id === id ? { ...item, ...changes } : item));
  };
  const clientOf = ({ wishes }: Item) =>
    wishes.place === "edge" && edge.connection.value ? edge.connection.value.client : device;

  async function look(id: string, input: MediaInput): Promise<void> {
    try {
      const given = typeof input === "string" ? { url: input } : input;
      const step = await device.wait(await device.steps.create({ kind: "probe", input: given }));
      if (step.error) throw new MediaError(step.error.kind, step.error.message);
      if (step.output) change(id, { source: step.output, wishes: defaultWishes(step.output) });
    } catch (thrown) {
      change(id, { fault: faultOf(thrown) });
    }
  }

  async function startOne(item: Item): Promise<void> {
    const { input, wishes, id } = item;
    if (!input) return;
    const client = clientOf(item);
    try {
      const request = { input, kind: wishes.kind, options: wishes.options } as NewTask;
      follow(id, await client.tasks.create(request));
    } catch (thrown) {
      change(id, { fault: faultOf(thrown) });
    }
  }

  function follow(id: string, task: Task): void {
    change(id, { task, pace: null, fault: null });
    const item = find(id);
    if (!item) return;
    clientOf(item).on(task, "update", ({ record, progress, speed, eta }) =>
      change(id, { task: record, pace: { progress, speed, eta } }),
    );
  }

  return {
    items,
    add(inputs) {
      for (const input of inputs) {
        const item = createItem(input);
        items.value = [...items.value, item];
        void look(item.id, input);
      }
    },
    wish: (id, wishes) => change(id, { wishes }),
    async start(ids) {
      const ready = items.value.filter(
        (item) => stateOf(item) === "ready" && (ids?.includes(item.id) ?? true),
      );
      await Promise.all(ready.map(startOne));
    },
    async cancel(id) {
      const item = find(id);
      if (item?.task) await clientOf(item).tasks.cancel(item.task.id);
    },
    async retry(id) {
      const item = find(id);
      if (item?.task) follow(id, await clientOf(item).tasks.retry(item.task.id));
    },
    again(id) {
      const item = find(id);
      if (item?.input)
        items.value = [...items.value, { ...item, id: crypto.randomUUID(), task: null, pace: null }];
    },
    async resume(id, file) {
      const item = find(id);
      if (item?.task) await device.resume(item.task, file);
    },
    async remove(id) {
      items.value = items.value.filter((item) => item.id !== id);
    },
    async output(id) {
      const item = find(id);
      if (!item?.task) throw new MediaError("media_not_found", "This file is not done.");
      return clientOf(item).output(item.task);
    },
  };
}

function createItem(input: MediaInput): Item {
  const isUrl = typeof input === "string";
  return {
    id: crypto.randomUUID(),
    name: isUrl ? (input.split("/").pop() ?? input) : "name" in input ? String(input.name) : "file",
    size: isUrl || !("size" in input) ? null : input.size,
    input,
    source: null,
    thumbnail: null,
    wishes: defaultWishes({ kind: "video" }),
    task: null,
    pace: null,
    waiting: null,
    fault: null,
  };
}

function faultOf(thrown: unknown): { kind: string; message: string } {
  if (thrown instanceof MediaError) return { kind: thrown.kind, message: thrown.message };
  return { kind: "internal_error", message: String(thrown) };
}
