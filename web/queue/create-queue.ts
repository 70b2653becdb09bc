import { effect } from "@preact/signals";
import type { LocalClient, LocalFile, WaitingFile } from "../../src/browser/index.ts";
import { type Client, isFinished, MediaError, type MediaInput } from "../../src/index.ts";
import { sleep } from "../../src/util/async.ts";
import type { Edge } from "../console/edge.ts";
import { createItemFollower } from "./follow.ts";
import { createItem, defaultSettings, faultOf, type Item, nextId, type Place } from "./item.ts";
import { createItemList, type ItemList, openQueueStore } from "./item-list.ts";
import { createLauncher } from "./launch.ts";
import { isRetryable, isStartable, type Queue, stateOf } from "./queue.ts";
import * as strings from "./strings.ts";
import { makeThumbnail } from "./thumbnail.ts";

const NAME = "framewright-queue";
const ADDED_AT_ONCE = 20;

/** Creates the {@link Queue} of a page on top of its clients, and restores it from an earlier visit. */
export function createQueue(device: LocalClient, edge: Edge): Queue {
  const list = createItemList(NAME, openQueueStore(NAME), { read, gone });
  const follower = createItemFollower(list, device, clientOf, refused);
  const launcher = createLauncher(NAME, list, device, edge);
  const probe = createProbe(NAME, list, device);
  const { items, loaded, find, change } = list;

  function clientOf({ wishes, service }: Item): Client | null {
    if (wishes.place === "device") return device;
    const connection = edge.connection.value;
    return connection && connection.base_url === service ? connection.client : null;
  }

  function refused(client: Client): void {
    const connection = edge.connection.value;
    if (connection?.client === client) edge.lose(connection);
  }

  function needClient(item: Item): Client {
    const client = clientOf(item);
    if (client) return client;
    const message = strings.serviceNotConnected({ service: item.service });
    throw new MediaError("service_unavailable", message);
  }

  function read(item: Item): void {
    if (item.task) {
      follower.follow(item);
      return;
    }
    void waitingFor(item).then((waiting) => {
      if (waiting) change(item.id, { waiting });
      else if (stateOf(item) === "reading") void probe(item.id);
    });
  }

  function gone(id: string): void {
    launcher.stop(id);
    follower.stop(id);
  }

  function followNow(id: string): void {
    const item = find(id);
    if (item) follower.follow(item);
  }

  async function orFault(id: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      change(id, { fault: faultOf(thrown) });
    }
  }

  async function addAll(inputs: readonly MediaInput[]): Promise<void> {
    for (const [index, input] of inputs.entries()) {
      if (index > 0 && index % ADDED_AT_ONCE === 0) await sleep(0);
      const item = createItem(input);
      list.add(item);
      void probe(item.id);
    }
  }

  async function start(ids: readonly string[]): Promise<void> {
    await launcher.start(ids);
    for (const id of ids) followNow(id);
  }

  async function dropTask(item: Item): Promise<void> {
    const client = clientOf(item);
    if (!item.task || !client) return;
    const { id } = item.task;
    await client.tasks.cancel(id).catch(ignoreErrors("task_finished", "task_not_found"));
    await client.tasks.delete(id).catch(ignoreErrors("task_not_found"));
  }

  effect(() => {
    if (!edge.connection.value) return;
    for (const item of list.all()) if (item.wishes.place === "edge") follower.follow(item);
  });

  return {
    items,
    loaded,
    add: (inputs) => void addAll(inputs),
    configure: (id, settings) => {
      const item = find(id);
      if (!item || stateOf(item) !== "ready") return;
      change(id, { wishes: settings, fault: null });
      list.show(id);
    },
    async start(ids) {
      const all = list.all().filter(isStartable);
      const chosenIds = ids ?? all.map(({ id }) => id);
      const groups = groupByFile(chosenIds.map(find).filter((item) => item !== undefined));
      await Promise.all(groups.map(start));
    },
    async cancel(id) {
      launcher.stop(id);
      await orFault(id, async () => {
        const item = find(id);
        if (item?.task)
          await needClient(item).tasks.cancel(item.task.id).catch(ignoreErrors("task_finished"));
      });
    },
    async retry(id) {
      await orFault(id, () =>
        // A second click, here or in another tab, must not create a second task.
        navigator.locks.request(`${NAME} retry ${id}`, { ifAvailable: true }, async (lock) => {
          const item = lock && (await list.refresh(id));
          if (!item || !isRetryable(item)) return;
          change(id, { fault: null });
          if (!item.task) return probe(id);
          const client = needClient(item);
          const task = await client.tasks.retry(item.task.id);
          change(id, { task, pace: null, waiting: null });
          followNow(id);
          await list.saved(id);
          await client.tasks.delete(item.task.id).catch(() => {});
        }),
      );
    },
    async sendToEdge(id) {
      await orFault(id, async () => {
        const item = find(id);
        const connection = edge.connection.value;
        if (!item || !connection) return;
        change(id, { fault: null });
        if (!item.source) return probe(id, connection.client, "edge");
        await dropTask(item);
        change(id, { task: null, pace: null, wishes: { ...item.wishes, place: "edge" } });
        await start([id]);
      });
    },
    again(id) {
      const item = find(id);
      if (!item) return;
      const fresh = { task: null, service: null, pace: null, waiting: null, starting: null, fault: null };
      const copy = { ...item, ...fresh, id: nextId(), file_of: item.file_of ?? item.id };
      list.add(copy);
      list.show(copy.id);
      read(copy);
    },
    async resume(id, file) {
      const item = find(id);
      if (!item?.waiting) return;
      if (item.task) {
        await device.resume(item.task, file);
        change(id, { ...(file && { input: file }), waiting: null, fault: null });
      } else {
        change(id, { input: await requestFile(item, file), waiting: null, fault: null });
        if (!item.source) void probe(id);
      }
    },
    async remove(id) {
      gone(id);
      const item = list.remove(id);
      if (!item) return;
      // The player must be gone before its files are.
      list.show(id);
      await sleep(0);
      try {
        await dropTask(item);
      } catch (thrown) {
        list.add(item);
        followNow(id);
        change(id, { fault: faultOf(thrown) });
      }
    },
    async output(id) {
      const item = find(id);
      if (!item?.task || !isFinished(item.task)) {
        throw new MediaError("media_not_found", strings.notFinished);
      }
      // The URLs in an old record may have expired, so read by id.
      return needClient(item).output(item.task.id);
    },
  };
}

function ignoreErrors(...kinds: readonly string[]): (thrown: unknown) => void {
  return (thrown) => {
    if (!(thrown instanceof MediaError && kinds.includes(thrown.kind))) throw thrown;
  };
}

const MAX_JOB_OUTPUTS = 10;

/** Groups the ids of items that share a file and a place, at most a job's number of outputs each. */
function groupByFile(items: readonly Item[]): string[][] {
  const groups = new Map<string, string[]>();
  const all: string[][] = [];
  for (const { id, file_of, wishes } of items) {
    const key = `${wishes.place} ${file_of ?? id}`;
    const open = groups.get(key);
    if (open && open.length < MAX_JOB_OUTPUTS) {
      open.push(id);
      continue;
    }
    const group = [id];
    groups.set(key, group);
    all.push(group);
  }
  return all;
}

/** Probes an item with the client of a place, and puts the result or the error into the list. Never rejects. */
export type Probe = (id: string, client?: Client, place?: Place) => Promise<void>;

/** Creates a {@link Probe}; a lock lets one tab probe an item. */
function createProbe(name: string, list: ItemList, device: LocalClient): Probe {
  return (id, client = device, place = "device") =>
    navigator.locks.request(`${name} look ${id}`, async () => {
      const item = await list.refresh(id);
      if (!item?.input || item.source) return;
      const { input } = item;
      try {
        const source = await client.probe(input);
        const size = item.size ?? source.filesize ?? null;
        const settings = { ...defaultSettings(source), place };
        const { refuseUnreadable } = await import("./planning.ts");
        refuseUnreadable(source, settings);
        list.change(id, { source, size, fault: null, wishes: settings });
        const thumbnail = await makeThumbnail(input, source, device);
        if (thumbnail) list.change(id, { thumbnail });
      } catch (thrown) {
        if (!list.find(id)?.source) list.change(id, { fault: faultOf(thrown) });
      }
      await list.saved(id);
    });
}

interface PermissionHandle extends FileSystemFileHandle {
  queryPermission?(): Promise<PermissionState>;
  requestPermission?(): Promise<PermissionState>;
}

async function waitingFor({ input, name, size }: Item): Promise<WaitingFile | null> {
  if (input === null) return { name, size: size ?? 0, reason: "gone" };
  if (!isHandle(input)) return null;
  const state = (await input.queryPermission?.().catch(() => "denied" as const)) ?? "granted";
  if (state === "granted") return null;
  return { name, size: size ?? 0, reason: state === "prompt" ? "permission" : "gone" };
}

/**
 * Returns the file that an item waits for: the chosen one if it is the same, or the old one after asking the visitor for
 * permission.
 */
async function requestFile(item: Item, file?: LocalFile): Promise<MediaInput> {
  const { input, name, size } = item;
  if (!file) {
    const state = input && isHandle(input) ? await input.requestPermission?.() : "denied";
    if (input && state === "granted") return input;
    throw new MediaError("input_unreachable", strings.fileNotAllowed, { retryable: false });
  }
  const { size: newSize } = "getFile" in file ? await file.getFile() : file;
  if (size !== null && newSize !== size) {
    throw new MediaError("invalid_input", strings.differentFile({ name }), { param: "file" });
  }
  return file;
}

function isHandle(input: MediaInput): input is PermissionHandle {
  return typeof input === "object" && "getFile" in input;
}
