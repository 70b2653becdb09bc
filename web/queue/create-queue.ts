import { effect } from "@preact/signals";
import type { LocalClient, LocalFile, WaitingFile } from "../../src/browser/index.ts";
import {
  type Client,
  isFinished,
  MediaError,
  type MediaInput,
  type Source,
  type Task,
} from "../../src/index.ts";
import { sleep } from "../../src/util/async.ts";
import { type Edge, isRefusal } from "../console/edge.ts";
import { type JobPath, jobAt } from "../home/jobs.ts";
import { createItem, faultOf, type Item, nextId, type Pace, type Place, type Settings } from "./item.ts";
import { createItemList, type ItemList, openQueueStore } from "./item-list.ts";
import type { Launcher } from "./launcher.ts";
import { isRetryable, isStartable, type Queue, stateOf } from "./queue.ts";
import * as strings from "./strings.ts";

const NAME = "framewright-queue";
const ADDED_AT_ONCE = 20;

/** Creates the {@link Queue} of a page on top of its clients, and restores it from an earlier visit. */
export function createQueue(device: LocalClient, edge: Edge): Queue {
  const list = createItemList(NAME, openQueueStore(NAME), { read, gone });
  const clients = createClients(device, edge);
  const follower = createItemFollower(list, device, clients);
  const launcher = loadLauncher(() =>
    import("./launcher.ts").then(({ createLauncher }) => createLauncher(NAME, list, device, edge)),
  );
  const probe = createProbe(NAME, list, device);
  const { items, loaded, find, change } = list;

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

  async function addAll(inputs: readonly MediaInput[], job: JobPath | null): Promise<void> {
    launcher.load();
    for (const [index, input] of inputs.entries()) {
      if (index > 0 && index % ADDED_AT_ONCE === 0) await sleep(0);
      const item = createItem(input, job);
      list.add(item);
      void probe(item.id);
    }
  }

  async function start(ids: readonly string[]): Promise<void> {
    await launcher.start(ids);
    for (const id of ids) followNow(id);
  }

  effect(() => {
    if (!edge.connection.value) return;
    for (const item of list.all()) if (item.settings.place === "edge") follower.follow(item);
  });

  return {
    items,
    loaded,
    add: (inputs, job) => void addAll(inputs, job?.path ?? null),
    configure: (id, settings) => {
      const item = find(id);
      if (!item || stateOf(item) !== "ready") return;
      change(id, { settings, fault: null });
      list.show(id);
    },
    rename(id, naming) {
      change(id, { naming });
      list.show(id);
    },
    reorder(ranks) {
      for (const [id, rank] of ranks) change(id, { rank });
      list.show(...ranks.keys());
    },
    async start(ids) {
      const all = list.all().filter(isStartable);
      const chosenIds = ids ?? all.map(({ id }) => id);
      const groups = groupByFile(chosenIds.map(find).filter((item) => item !== undefined));
      await Promise.all(groups.map(start));
    },
    ...createTaskCommands({ list, edge, clients, launcher, probe, start, followNow, gone }),
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
    async output(id) {
      const item = find(id);
      if (!item?.task || !isFinished(item.task)) {
        throw new MediaError("media_not_found", strings.notFinished);
      }
      const { keepsOriginal } = await import("../options/default-settings.ts");
      if (keepsOriginal(item)) {
        const { originalOutput } = await import("../result/output-files.ts");
        const original = await originalOutput(item);
        if (original) return original;
      }
      // The URLs in an old record may have expired, so read by id.
      return clients.need(item).output(item.task.id);
    },
  };
}

/** The clients of a queue's items: that of this device, or of the service that has an item's task. */
interface Clients {
  /** Returns an item's client; null when its service is not connected. */
  of(item: Item): Client | null;
  /** Returns an item's client; throws `service_unavailable` when its service is not connected. */
  need(item: Item): Client;
  /** Disconnects the service that no longer accepts the key of a client. */
  lose(client: Client): void;
}

function createClients(device: LocalClient, edge: Edge): Clients {
  function clientOf({ settings, service }: Item): Client | null {
    if (settings.place === "device") return device;
    const connection = edge.connection.value;
    return connection && connection.base_url === service ? connection.client : null;
  }

  return {
    of: clientOf,
    need(item) {
      const client = clientOf(item);
      if (client) return client;
      const message = strings.serviceNotConnected({ service: item.service });
      throw new MediaError("service_unavailable", message);
    },
    lose(client) {
      const connection = edge.connection.value;
      if (connection?.client === client) edge.lose(connection);
    },
  };
}

interface TaskCommandParts {
  list: ItemList;
  edge: Edge;
  clients: Clients;
  launcher: Launcher;
  probe: Probe;
  start(ids: readonly string[]): Promise<void>;
  followNow(id: string): void;
  gone(id: string): void;
}

/** Creates the commands of a queue that cancel, repeat, move or delete the task of an item. */
function createTaskCommands(
  parts: TaskCommandParts,
): Pick<Queue, "cancel" | "retry" | "sendToEdge" | "remove"> {
  const { list, edge, clients, launcher, probe, start, followNow, gone } = parts;
  const { find, change } = list;

  async function orFault(id: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      change(id, { fault: faultOf(thrown) });
    }
  }

  async function dropTask(item: Item): Promise<void> {
    const client = clients.of(item);
    if (!item.task || !client) return;
    const { id } = item.task;
    await client.tasks.cancel(id).catch(ignoreErrors("task_finished", "task_not_found"));
    await client.tasks.delete(id).catch(ignoreErrors("task_not_found"));
  }

  return {
    async cancel(id) {
      launcher.stop(id);
      await orFault(id, async () => {
        const item = find(id);
        if (!item?.task) return;
        const task = await clients.need(item).tasks.cancel(item.task.id).catch(ignoreErrors("task_finished"));
        if (task && find(id)?.task?.id === task.id) change(id, { task });
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
          const client = clients.need(item);
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
        change(id, { task: null, pace: null, settings: { ...item.settings, place: "edge" } });
        await start([id]);
      });
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
  };
}

function ignoreErrors(...kinds: readonly string[]): (thrown: unknown) => undefined {
  return (thrown) => {
    if (!(thrown instanceof MediaError && kinds.includes(thrown.kind))) throw thrown;
  };
}

const MAX_JOB_OUTPUTS = 10;

/** Groups the ids of items that share a file and a place, at most a job's number of outputs each. */
function groupByFile(items: readonly Item[]): string[][] {
  const groups = new Map<string, string[]>();
  const all: string[][] = [];
  for (const { id, file_of, settings } of items) {
    const key = `${settings.place} ${file_of ?? id}`;
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
        const { defaultSettings } = await import("../options/default-settings.ts");
        const defaults = { ...defaultSettings(source), place };
        const { refuseUnreadable } = await import("../options/check-settings.ts");
        refuseUnreadable(source, defaults);
        const settings = await forJob(item, defaults, source);
        list.change(id, { source, size, fault: null, settings });
        const { makeThumbnail } = await import("./thumbnail.ts");
        const thumbnail = await makeThumbnail(input, source, device);
        if (thumbnail) list.change(id, { thumbnail });
      } catch (thrown) {
        if (!list.find(id)?.source) list.change(id, { fault: faultOf(thrown) });
      }
      await list.saved(id);
    });
}

async function forJob({ job }: Item, settings: Settings, source: Source): Promise<Settings> {
  const row = job ? jobAt(job) : null;
  if (!row) return settings;
  const { applyJob } = await import("../home/apply-job.ts");
  return applyJob(row, settings, source);
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

/** Keeps a list's items up to date with their tasks. */
export interface Follower {
  /** Follows the task of an item until it is finished; repeated calls have no effect. */
  follow(item: Item): void;
  stop(id: string): void;
}

export function createItemFollower(
  list: ItemList,
  device: LocalClient,
  clients: Pick<Clients, "of" | "lose">,
): Follower {
  const followed = new Map<string, { task_id: string; client: Client; end(): void }>();

  function stop(id: string): void {
    followed.get(id)?.end();
    followed.delete(id);
  }

  async function requestFile(id: string, task: Task, file: WaitingFile): Promise<void> {
    if (file.reason === "gone" && (await resumeFromStore(id, task))) return;
    const current = list.find(id)?.task;
    if (current?.id === task.id && !isFinished(current)) list.change(id, { waiting: file });
  }

  async function resumeFromStore(id: string, task: Task): Promise<boolean> {
    const file = await list.storedFile(id);
    if (!file) return false;
    return device.resume(task, file).then(
      () => true,
      () => false,
    );
  }

  function fail(id: string, client: Client, task: Task, error: MediaError): void {
    const item = list.find(id);
    if (!item || clients.of(item) !== client) return;
    const fault = faultOf(error);
    if (error.kind === "task_not_found") {
      stop(id);
      if (item.task?.id === task.id) list.change(id, { task: null, service: null, pace: null, fault });
      return;
    }
    // The item stays followed: another try with this client would fail in the same way.
    list.change(id, { fault });
    if (!isRefusal(error)) return;
    for (const [other, each] of followed) if (each.client === client) list.change(other, { fault });
    clients.lose(client);
  }

  return {
    stop,
    follow(item) {
      const { id, task } = item;
      const client = task && !isFinished(task) ? clients.of(item) : null;
      const before = followed.get(id);
      if (before && before.task_id === task?.id && before.client === client) return;
      stop(id);
      if (!task || !client) return;
      let lastChoice: Pace["choice"];
      let shouldFetch = client !== device;
      if (item.fault) list.change(id, { fault: null });
      const endUpdates = client.on(task, "update", ({ record, progress, speed, eta, choice, waiting }) => {
        const file = waiting?.for === "file" ? waiting : null;
        const waits = waiting?.for === "encoder";
        list.change(id, {
          task: record,
          pace: { progress, speed, eta, choice: choice ?? lastChoice, waits, at: Date.now() },
          ...(!file && { waiting: null }),
        });
        if (shouldFetch && !choice && isEncoding(record)) {
          shouldFetch = false;
          void fetchChoice(client, record).then((received) => {
            lastChoice = received;
            shouldFetch = received === null;
            const pace = followed.get(id)?.end === end ? list.find(id)?.pace : null;
            if (received && pace) list.change(id, { pace: { ...pace, choice: received } });
          });
        }
        if (isFinished(record)) stop(id);
        else if (file) void requestFile(id, record, file);
      });
      const endErrors = client.on(task, "error", (error) => fail(id, client, task, error));
      const end = () => {
        endUpdates();
        endErrors();
      };
      followed.set(id, { task_id: task.id, client, end });
    },
  };
}

// A service reports the choice only in events, and each stream of events occupies a connection.
async function fetchChoice(client: Client, task: Task): Promise<Pace["choice"]> {
  try {
    for await (const { choice } of client.watch<Task>(task)) return choice;
  } catch {}
  return undefined;
}

function isEncoding({ kind, steps }: Task): boolean {
  return steps.some((step) => step.kind === kind && step.status === "processing");
}

/** A {@link Launcher} that loads before the first start, but after the page. */
function loadLauncher(create: () => Promise<Launcher>): Launcher & { load(): void } {
  let loading: Promise<Launcher> | null = null;
  let launcher: Launcher | null = null;
  const load = async () => {
    loading ??= create();
    launcher = await loading.catch((thrown) => {
      loading = null;
      throw thrown;
    });
    return launcher;
  };
  return {
    load: () => void load().catch(() => {}),
    start: async (ids) => (await load()).start(ids),
    // A conversion starts only once there is a launcher.
    stop: (id) => launcher?.stop(id),
  };
}
