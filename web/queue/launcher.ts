import type { LocalClient } from "../../src/browser/index.ts";
import type { NewJob, RemoteClient } from "../../src/client/index.ts";
import { type Client, MediaError, type MediaInput, type NewTask, type Task } from "../../src/index.ts";
import { createSlots } from "../../src/util/async.ts";
import type { Edge } from "../console/edge.ts";
import { deleteUnused, withAttached } from "./attached-files.ts";
import { faultOf, type Item } from "./item.ts";
import type { ItemList } from "./item-list.ts";
import { stateOf } from "./queue.ts";

export interface Launcher {
  /**
   * Creates the task of a ready item, or the job of several of one file. Repeated calls, also in other tabs, create it once;
   * a failure becomes the fault of its item.
   */
  start(ids: readonly string[]): Promise<void>;
  stop(id: string): void;
}

/** An item to start, and the request of its task. */
interface Prepared {
  item: Item;
  request: Omit<NewTask, "input">;
  signal: AbortSignal;
}

const AT_ONCE = 3;

/**
 * Creates the tasks of items that share a file, or one job for all, and puts them into the list; a service first receives the file.
 */
type TaskSender = (all: readonly Prepared[], first: Item) => Promise<void>;

function createTaskSender(list: ItemList, device: LocalClient, edge: Edge): TaskSender {
  async function send(all: readonly Prepared[], client: RemoteClient, input: MediaInput) {
    if (typeof input === "string") return { input, drop: async () => {} };
    const showPercent = (percent: number) => {
      for (const { item, signal } of all)
        if (!signal.aborted) list.change(item.id, { starting: { percent } });
    };
    showPercent(0);
    const onProgress = (bytes: number, size: number) =>
      showPercent(size > 0 ? Math.floor((100 * bytes) / size) : 100);
    const signal = allOf(all.map((each) => each.signal));
    const upload = await client.uploads.send(input, { signal, onProgress });
    return { input: upload.url, drop: () => client.uploads.delete(upload.id).catch(() => {}) };
  }

  async function make(all: readonly Prepared[], client: Client, input: MediaInput): Promise<Task[]> {
    const [first] = all;
    if (first && all.length === 1) return [await client.tasks.create({ ...first.request, input } as NewTask)];
    return (await client.jobs.create({ input, outputs: all.map(({ request }) => request) } as NewJob)).tasks;
  }

  /** Sets the tasks of the items; returns how many were not stopped in the meantime. */
  async function settle(all: readonly Prepared[], client: Client, tasks: Task[], service: string | null) {
    let count = 0;
    for (const [index, { item, signal }] of all.entries()) {
      const task = tasks[index];
      if (task && signal.aborted) await discard(client, task);
      if (!task || signal.aborted) continue;
      count++;
      const { settings } = item;
      list.change(item.id, {
        task,
        service,
        ...(service === null && { settings: { ...settings, place: "device" } }),
      });
    }
    return count;
  }

  return async (all, { input, settings }) => {
    if (!input) return;
    const connection = settings.place === "edge" ? edge.connection.value : null;
    if (!connection) return void (await settle(all, device, await make(all, device, input), null));
    const { client, base_url } = connection;
    const upload = await send(all, client, input);
    try {
      const tasks = await make(all, client, upload.input);
      if ((await settle(all, client, tasks, base_url)) === 0) await upload.drop();
    } catch (thrown) {
      await upload.drop();
      throw thrown;
    }
  };
}

/** Creates a {@link Launcher} for tasks on this machine and at the connected service. */
export function createLauncher(name: string, list: ItemList, device: LocalClient, edge: Edge): Launcher {
  const controllers = new Map<string, AbortController>();
  if (list.loaded.peek()) void deleteUnused(list.all().map(({ settings }) => settings)).catch(() => {});
  const inSlot = createSlots(AT_ONCE);
  const create = createTaskSender(list, device, edge);

  const fail = (id: string, thrown: unknown) => list.change(id, { fault: faultOf(thrown) });

  async function createAll(items: readonly Item[]): Promise<void> {
    const all: Prepared[] = [];
    for (const item of items) {
      const signal = controllers.get(item.id)?.signal ?? AbortSignal.abort();
      try {
        all.push({ item, request: await requestOf(item), signal });
      } catch (thrown) {
        fail(item.id, thrown);
      }
    }
    const [first] = all;
    if (!first) return;
    try {
      await create(all, first.item);
    } catch (thrown) {
      if (all.length > 1 && thrown instanceof MediaError && thrown.param?.startsWith("outputs."))
        for (const { item } of all) await createAll([item]);
      else for (const { item, signal } of all) if (!signal.aborted) fail(item.id, thrown);
    }
  }

  async function launch(ids: readonly string[], items: readonly Item[] = []): Promise<void> {
    const [id, ...rest] = ids;
    if (id === undefined) return createAll(items);
    await navigator.locks.request(`${name} start ${id}`, { ifAvailable: true }, async (lock) => {
      // The file must be stored first, so that the task finds it after a reload.
      await list.saved(id);
      const item = lock && (await list.refresh(id));
      const isMeant = item?.source && !item.task && !item.waiting && !controllers.get(id)?.signal.aborted;
      if (isMeant) list.change(id, { fault: null });
      await launch(rest, isMeant ? [...items, item] : items);
      await list.saved(id);
    });
  }

  return {
    async start(ids) {
      const ready = ids.filter((id) => {
        const item = list.find(id);
        return item && !controllers.has(id) && stateOf(item) === "ready";
      });
      for (const id of ready) {
        controllers.set(id, new AbortController());
        list.change(id, { starting: { percent: null, waits: true } });
      }
      const launched = inSlot(async () => {
        const remaining = ready.filter((id) => !controllers.get(id)?.signal.aborted);
        for (const id of remaining) list.change(id, { starting: { percent: null } });
        await launch(remaining);
      });
      await launched.finally(() => {
        for (const id of ready) {
          controllers.delete(id);
          list.change(id, { starting: null });
        }
      });
    },
    stop: (id) => controllers.get(id)?.abort(new DOMException("It was cancelled.", "AbortError")),
  };
}

/** Returns a signal that aborts once all of several have. */
function allOf(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  const check = () => signals.every(({ aborted }) => aborted) && controller.abort(signals[0]?.reason);
  for (const signal of signals) signal.addEventListener("abort", check, { once: true });
  check();
  return controller.signal;
}

async function discard(client: Client, { id }: Task): Promise<void> {
  await client.tasks.cancel(id).catch(() => {});
  await client.tasks.delete(id).catch(() => {});
}

async function requestOf({ settings, source }: Item): Promise<Prepared["request"]> {
  if (settings.fault) throw new MediaError("invalid_options", settings.fault.message);
  const { kind, target_size } = settings;
  const options = await withAttached(settings.options);
  if (target_size === null || !source) return { kind, options };
  // The planner is a third of the page, so it loads with the first file.
  const { sizedOptions } = await import("../options/check-settings.ts");
  return { kind, options: sizedOptions({ ...settings, options }, source, target_size) };
}
