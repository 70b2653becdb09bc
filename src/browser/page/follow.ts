import type { Client, CreateOptions, NewTask } from "../../client/client.ts";
import type { UploadProgress } from "../../client/update.ts";
import { toMediaError } from "../../media/errors.ts";
import type { Task } from "../../runs/task.ts";
import { isFinished } from "../../runs/transitions.ts";
import { throttle } from "../../util/async.ts";
import type { MediaApi, MediaEvent } from "../media-api.ts";

/** Follows tasks at the fallback for the media worker, which stores their records. */
export interface Follower {
  /**
   * Creates the task at the fallback unless it exists, and reports its state to the worker until it is finished, or the error that
   * ends the watch.
   */
  follow(event: MediaEvent & { type: "follow" }): Promise<void>;
  unfollow(id: string, remote: string | null): Promise<void>;
  close(): void;
}

interface FollowedTask {
  /** Its id at the fallback; null until it is created. */
  remote: string | null;
  /** Stops the upload of its file. */
  over: AbortController;
  stop(): void;
}

export function followTasks(fallback: Client, api: MediaApi): Follower {
  const followed = new Map<string, FollowedTask>();

  const cancel = (remote: string) => fallback.tasks.cancel(remote).catch(() => {});

  async function fail(id: string, thrown: unknown): Promise<void> {
    const { kind, message, retryable } = toMediaError(thrown, "service_unavailable");
    await api.followed(id, { error: { kind, message, retryable } });
  }

  function watch(id: string, remote: string): () => void {
    const stops = [
      fallback.on<Task>(remote, "update", ({ record }) => {
        if (isFinished(record)) followed.delete(id);
        api.followed(id, record).catch(() => {});
      }),
      fallback.on(remote, "error", (thrown) => {
        followed.delete(id);
        void fail(id, thrown).catch(() => {});
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  return {
    async follow({ id, request, remote, file }) {
      const own: FollowedTask = { remote, over: new AbortController(), stop() {} };
      const { signal } = own.over;
      const report = (upload: UploadProgress) => api.sending(id, upload).catch(() => {});
      const throttledReport = throttle(report);
      let reported = Promise.resolve();
      const sending: CreateOptions = {
        signal,
        onProgress(sent, size) {
          reported = (sent === size ? report : throttledReport)({ sent, size });
        },
      };
      const create = async () => {
        const withFile = { ...(request as NewTask), ...(file && { input: file }) };
        const task = await fallback.tasks.create(withFile, sending);
        await reported;
        own.remote = task.id;
        if (signal.aborted) await cancel(task.id);
        else await api.followed(id, task);
        return task.id;
      };
      followed.set(id, own);
      try {
        const remoteId = remote ?? (await create());
        if (!signal.aborted) own.stop = watch(id, remoteId);
      } catch (thrown) {
        if (!signal.aborted) await fail(id, thrown).catch(() => {});
      }
    },
    async unfollow(id, remote) {
      const task = followed.get(id);
      followed.delete(id);
      task?.over.abort();
      task?.stop();
      const remoteId = remote ?? task?.remote;
      if (remoteId) await cancel(remoteId);
    },
    close() {
      for (const { over, stop } of followed.values()) {
        over.abort();
        stop();
      }
      followed.clear();
    },
  };
}
