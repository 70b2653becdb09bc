import type { LocalClient } from "../../src/browser/index.ts";
import { type Client, isFinished, type MediaError, type Task, type WaitingFile } from "../../src/index.ts";
import { isRefusal } from "../console/edge.ts";
import { faultOf, type Item, type Pace } from "./item.ts";
import type { ItemList } from "./item-list.ts";

/** Keeps a list's items up to date with their tasks. */
export interface Follower {
  /** Follows the task of an item until it is finished; repeated calls have no effect. */
  follow(item: Item): void;
  stop(id: string): void;
}

/**
 * Creates a {@link Follower}; `clientOf` returns null when an item's service is not connected, and `refused` receives the client
 * whose service no longer accepts its key.
 */
export function createItemFollower(
  list: ItemList,
  device: LocalClient,
  clientOf: (item: Item) => Client | null,
  refused: (client: Client) => void,
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
    if (!item || clientOf(item) !== client) return;
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
    refused(client);
  }

  return {
    stop,
    follow(item) {
      const { id, task } = item;
      const client = task && !isFinished(task) ? clientOf(item) : null;
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
          ...{
            task: record,
            pace: { progress, speed, eta, choice: choice ?? lastChoice, waits, at: Date.now() },
          },
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
