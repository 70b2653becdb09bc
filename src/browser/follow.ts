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
  unfollow(id: string): Promise<void>;
  close(): void;
}

/** Builds a {@link Follower} over the client of another place. */
export function createFollower(fallback: Client, api: MediaApi): Follower {
  const followed = new Map<string, { remote: string; stop(): void }>();

  async function fail(id: string, thrown: unknown): Promise<void> {
    const { kind, message } = toMediaError(thrown, "service_unavailable");
    await api.followed(id, { error: { kind, message } });
  }

  return {
    async follow(id, request, remote) {
      try {
        const task = remote
          ? await fallback.tasks.get(remote)
          : await fallback.tasks.create(request as NewTask);
        await api.followed(id, task);
        const stop = fallback.on<Task>(task.id, "update", ({ record }) => {
          if (isFinished(record)) followed.delete(id);
          api.followed(id, record).catch(() => {});
        });
        followed.set(id, { remote: task.id, stop });
      } catch (thrown) {
        await fail(id, thrown).catch(() => {});
      }
    },
    async unfollow(id) {
      const found = followed.get(id);
      followed.delete(id);
      found?.stop();
      // What is finished there needs no cancel.
      if (found) await fallback.tasks.cancel(found.remote).catch(() => {});
    },
    close() {
      for (const { stop } of followed.values()) stop();
      followed.clear();
    },
  };
}
