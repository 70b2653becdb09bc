import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { type Client, isFinished, type Task } from "../../src/index.ts";
import type { Pace } from "../queue/item.ts";
import type { Paged } from "./paged.ts";

/** Follows tasks of a list by their events, each of which takes a connection. */
export interface Follower {
  /** The pace of the followed tasks, by id. */
  readonly paces: ReadonlySignal<ReadonlyMap<string, Pace>>;
  see(id: string, seen: boolean): void;
  /** Follows what is in view until the signal aborts. */
  run(signal: AbortSignal): void;
}

// Over HTTP/1.1 a browser opens six connections to a host, and other requests need some too.
const MOST = 3;

/** Creates a {@link Follower} of the unfinished tasks in view, at most three at a time, that updates the list. */
export function createFollower(client: Pick<Client, "watch">, list: Paged<Task>): Follower {
  const in_view = signal<ReadonlySet<string>>(new Set());
  const paces = signal<ReadonlyMap<string, Pace>>(new Map());

  async function follow(id: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const { record, progress, speed, eta } of client.watch<Task>(id, { signal })) {
        paces.value = new Map(paces.value).set(id, { progress, speed, eta });
        list.put(record);
      }
    } catch {
      // The list keeps polling, and shows what is wrong.
    }
  }

  return {
    paces,
    see(id, seen) {
      const next = new Set(in_view.value);
      if (seen) next.add(id);
      else next.delete(id);
      in_view.value = next;
    },
    run(signal) {
      const followed = new Map<string, AbortController>();
      const stop = effect(() => {
        const wanted = choose(list.records.value ?? [], in_view.value);
        for (const [id, controller] of followed) {
          if (wanted.includes(id)) continue;
          followed.delete(id);
          controller.abort();
        }
        for (const id of wanted) {
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

// Running tasks change the most.
function choose(tasks: readonly Task[], in_view: ReadonlySet<string>): string[] {
  const unfinished = tasks.filter((task) => in_view.has(task.id) && !isFinished(task));
  const running = unfinished.filter(({ status }) => status === "processing");
  const waiting = unfinished.filter(({ status }) => status !== "processing");
  return [...running, ...waiting].slice(0, MOST).map(({ id }) => id);
}
