import { glob, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Step } from "../src/runs/step.ts";
import type { Task } from "../src/runs/task.ts";
import { NO_LIMITS } from "../test/fixtures/no-limits.ts";
import { mediaOf, type Service, startService } from "../worker/local/service.ts";
import { makeScratch } from "./scratch.ts";

export const KEY = "bench-key";
// Polls often at first and then rarely, so that polling does not weigh on long work.
const POLL = { first_ms: 10, max_ms: 250, part: 0.02 } as const;
const LIMIT_MS = 600_000;

/** The whole service, started for one benchmark, and a folder for the files of the peer. */
export interface Lab {
  service: Service;
  /** A folder beside the service's own, on the same disk. */
  dir: string;
  /** Sends a request and returns the JSON of its response; rejects when it is an error. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  /**
   * Creates a standalone step and waits for its end, polling at least every `max_ms` (default 250); rejects unless it
   * succeeds.
   */
  runStep(body: unknown, max_ms?: number): Promise<Step>;
  /** Creates a task and waits for its end, as `runStep` does; returns it and the seconds from the request to its end. */
  runTask(body: unknown, max_ms?: number): Promise<{ task: Task; seconds: number }>;
  /** Discards all stored bytes behind the service's back: writing them to disk would slow the next round. */
  discardStored(): Promise<void>;
}

/**
 * Starts the service as `npm run dev` does, with a number of native encoders (default 1), additional settings, other keys, and its own
 * state folder, which is removed at the end.
 */
export async function openLab(
  ends: AsyncDisposableStack,
  native = 1,
  more: Record<string, string> = {},
  api_keys = KEY,
): Promise<Lab> {
  const dir = await makeScratch(ends);
  const vars = { ALLOW_PRIVATE_NETWORK: "true", LOG_LEVEL: "error", ...NO_LIMITS, ...more };
  const state_dir = join(dir, "state");
  const service = await startService({ port: 0, api_keys, state_dir, vars, native });
  ends.defer(() => service.stop());
  const call = <T>(method: string, path: string, body?: unknown) =>
    callApi<T>(service.url, method, path, body);
  async function run<T extends Task | Step>(path: string, body: unknown, max_ms: number = POLL.max_ms) {
    let record = await call<T>("POST", path, body);
    for (const started = Date.now(); !record.finished_at; ) {
      const waited = Date.now() - started;
      await sleep(Math.min(max_ms, Math.max(POLL.first_ms, waited * POLL.part)));
      if (waited > LIMIT_MS) throw new Error(`The ${record.object} ${record.kind} did not end.`);
      record = await call<T>("GET", `${path}/${record.id}`);
    }
    if (record.status === "succeeded") return record;
    throw new Error(
      `The ${record.object} ${record.kind} is ${record.status}: ${record.error?.message ?? ""}`,
    );
  }
  return {
    service,
    dir,
    call,
    runStep: (body, max_ms) => run<Step>("/steps", body, max_ms),
    async runTask(body, max_ms) {
      const started = performance.now();
      const task = await run<Task>("/tasks", body, max_ms);
      return { task, seconds: (performance.now() - started) / 1000 };
    },
    discardStored: () => rm(join(mediaOf({ state_dir }), "bytes"), { recursive: true, force: true }),
  };
}

/** Deletes the bytes of all simulated R2 buckets below a folder; wrangler stores a file per part in folders called blobs. */
export async function removeBlobs(dir: string): Promise<void> {
  for await (const folder of glob("**/r2/*/blobs", { cwd: dir })) {
    for (const name of await readdir(join(dir, folder))) await rm(join(dir, folder, name));
  }
}

async function callApi<T>(base: string, method: string, path: string, body: unknown): Promise<T> {
  const response = await fetch(base + path, {
    method,
    headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
  return (text ? JSON.parse(text) : null) as T;
}
