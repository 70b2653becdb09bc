import type { LocalClient } from "../../src/browser/index.ts";
import type { RemoteClient } from "../../src/client/index.ts";
import {
  type Client,
  MediaError,
  type MediaInput,
  type NewTask,
  type Source,
  type Task,
} from "../../src/index.ts";
import type { Edge } from "../edge/edge.ts";
import { faultOf } from "./fault-of.ts";
import type { Item, Wishes } from "./item.ts";
import type { ItemList } from "./item-list.ts";
import { stateOf } from "./queue.ts";
import { createTurns } from "./turns.ts";

export interface Launcher {
  /**
   * Creates the task of a ready item, once however often and in however many tabs it is called; a failure becomes the item's
   * fault.
   */
  start(id: string): Promise<void>;
  stop(id: string): void;
}

// Files uploaded, or passed to the local client, in parallel.
const AT_ONCE = 3;

/** Creates a {@link Launcher} for tasks on this machine and at the connected service. */
export function createLauncher(name: string, list: ItemList, device: LocalClient, edge: Edge): Launcher {
  const going = new Map<string, AbortController>();
  const inTurn = createTurns(AT_ONCE);

  async function send(id: string, client: RemoteClient, input: MediaInput, signal: AbortSignal) {
    if (typeof input === "string") return { input, drop: async () => {} };
    list.change(id, { starting: { sent: 0 } });
    const onProgress = (sent: number, size: number) =>
      list.change(id, { starting: { sent: size > 0 ? Math.floor((100 * sent) / size) : 100 } });
    const upload = await client.uploads.send(input, { signal, onProgress });
    return { input: upload.url, drop: () => client.uploads.delete(upload.id).catch(() => {}) };
  }

  async function create(item: Item, signal: AbortSignal): Promise<void> {
    const { id, input, wishes, source } = item;
    if (!input || !source) return;
    if (wishes.fault) throw new MediaError("invalid_options", wishes.fault.message);
    const request = { kind: wishes.kind, options: await optionsOf(wishes, source) };
    const make = (client: Client, given: MediaInput) =>
      client.tasks.create({ ...request, input: given } as NewTask);
    const connection = wishes.place === "edge" ? edge.connection.value : null;
    if (!connection) {
      const task = await make(device, input);
      if (signal.aborted) return discard(device, task);
      return list.change(id, { task, service: null, wishes: { ...wishes, place: "device" } });
    }
    const { client, base_url } = connection;
    const sent = await send(id, client, input, signal);
    try {
      signal.throwIfAborted();
      const task = await make(client, sent.input);
      if (signal.aborted) await discard(client, task);
      signal.throwIfAborted();
      list.change(id, { task, service: base_url });
    } catch (thrown) {
      await sent.drop();
      throw thrown;
    }
  }

  async function launch(id: string, { signal }: AbortController): Promise<void> {
    await navigator.locks.request(`${name} start ${id}`, { ifAvailable: true }, async (lock) => {
      // After a reload, its task gets the file that has been stored by then.
      await list.saved(id);
      const item = lock && (await list.refresh(id));
      if (!item || item.task || item.waiting || signal.aborted) return;
      list.change(id, { fault: null });
      try {
        await create(item, signal);
      } catch (thrown) {
        if (!signal.aborted) list.change(id, { fault: faultOf(thrown) });
      }
      await list.saved(id);
    });
  }

  return {
    async start(id) {
      const item = list.find(id);
      if (going.has(id) || !item || stateOf(item) !== "ready") return;
      const controller = new AbortController();
      going.set(id, controller);
      list.change(id, { starting: { sent: null, waits: true } });
      // After those before it, in the order of the calls.
      const turn = inTurn(async () => {
        if (controller.signal.aborted) return;
        list.change(id, { starting: { sent: null } });
        await launch(id, controller);
      });
      await turn.finally(() => {
        going.delete(id);
        list.change(id, { starting: null });
      });
    },
    stop: (id) => going.get(id)?.abort(new DOMException("It was cancelled.", "AbortError")),
  };
}

// The start was cancelled, or the item removed, while its task was created.
async function discard(client: Client, { id }: Task): Promise<void> {
  await client.tasks.cancel(id).catch(() => {});
  await client.tasks.delete(id).catch(() => {});
}

// Loaded later, because the first view does not need to derive options from a size.
async function optionsOf(wishes: Wishes, source: Source): Promise<Wishes["options"]> {
  if (wishes.target_size === null) return wishes.options;
  const { sizedOptions } = await import("./sized-options.ts");
  return sizedOptions(wishes, source, wishes.target_size);
}
