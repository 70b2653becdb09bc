import type { Client, NewTask } from "../client/client.ts";
import { toMediaError } from "../core/errors.ts";
import type { Task } from "../core/task.ts";
import { isFinished } from "../core/transitions.ts";
import type { MediaApi } from "./media-api.ts";

/** Follows tasks at the fallback for the media worker, which keeps their records. */
export interface Follower {
  /** Creates the task there, unless it is there already, and tells the worker how it stands until it is finished. */
  follow(id: string, request: unknown, remote: string | null): Promise<void>;
  /** Cancels the task there. */
  unfollow(id: string, remote: string | null): Promise<void>;
  close(): void;
}

interface Followed {
  /** Its id there; null until it is created. */
  remote: string | null;
  over: boolean;
  stop(): void;
}

/** Builds a {@link Follower} over the client of another place. */
export function createFollower(fallback: Client, api: MediaApi): Follower {
  const followed = new Map<string, Followed>();

  // What is finished there needs no cancel.
  const cancel = (remote: string) => fallback.tasks.cancel(remote).catch(() => {});

  async function fail(id: string, thrown: unknown): Promise<void> {
    const { kind, message } = toMediaError(thrown, "service_unavailable");
    await api.followed(id, { error: { kind, message } });
  }

  return {
    async follow(id, request, remote) {
      const own: Followed = { remote, over: false, stop() {} };
      followed.set(id, own);
      try {
        const task = remote
          ? await fallback.tasks.get(remote)
          : await fallback.tasks.create(request as NewTask);
        own.remote = task.id;
        // It was cancelled while it was created.
        if (own.over) return void (await cancel(task.id));
        await api.followed(id, task);
        own.stop = fallback.on<Task>(task.id, "update", ({ record }) => {
          if (isFinished(record)) followed.delete(id);
          api.followed(id, record).catch(() => {});
        });
        if (own.over) own.stop();
      } catch (thrown) {
        await fail(id, thrown).catch(() => {});
      }
    },
    async unfollow(id, remote) {
      const found = followed.get(id);
      followed.delete(id);
      if (found) {
        found.over = true;
        found.stop();
      }
      const known = remote ?? found?.remote;
      if (known) await cancel(known);
    },
    close() {
      for (const { stop } of followed.values()) stop();
      followed.clear();
    },
  };
}
