import { mkdtempSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EncodeKind, StepKind } from "../../src/media/formats.ts";
import type { Source } from "../../src/media/source.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";

/** A response of the service. */
export interface Answer<T> {
  status: number;
  body: T;
}

/** The body of a request for a task. */
export interface TaskBody {
  input: string;
  kind: EncodeKind;
  options?: Record<string, unknown>;
}

/** The body of a request for a step. */
export interface StepBody {
  kind: StepKind;
  input: Partial<Source> | { url: string };
  options?: Record<string, unknown>;
}

export interface Fetched {
  path: string;
  mime: string;
}

/** The service through its HTTP API. */
export interface FrontDoor {
  request<T>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
  /** Creates a task and waits until it ends; throws if it is not created or does not end in time. */
  runTask(body: TaskBody, seconds?: number): Promise<Task>;
  runStep(body: StepBody, seconds?: number): Promise<Step>;
  /** Runs a task, throws unless it succeeds, and fetches its output. */
  encode(body: TaskBody, seconds?: number): Promise<Fetched & { task: Task }>;
  /** Downloads a URL to disk; throws unless the status is 200. */
  fetchFile(url: string): Promise<Fetched>;
  /** Removes the downloaded files. */
  close(): Promise<void>;
}

const FINISHED = new Set(["succeeded", "failed", "cancelled"]);
const DEFAULT_SECONDS = 200;

export function openFrontDoor(url: string, key: string): FrontDoor {
  const folder = mkdtempSync(join(tmpdir(), "framewright-judge-"));
  let fetched = 0;

  async function request<T>(method: string, path: string, body?: unknown): Promise<Answer<T>> {
    const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) ?? null });
    const text = await response.text();
    return { status: response.status, body: (text ? JSON.parse(text) : null) as T };
  }

  async function run<T extends Task | Step>(path: string, body: unknown, seconds: number): Promise<T> {
    const created = await request<T>("POST", path, body);
    if (created.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(created)}`);
    const end = Date.now() + seconds * 1000;
    if (path === "/tasks") await followTask(created.body.id, seconds).catch(() => undefined);
    for (let pause = 25; ; pause = Math.min(pause * 1.5, 250)) {
      const { body: record } = await request<T>("GET", `${path}/${created.body.id}`);
      if (FINISHED.has(record.status)) return record;
      if (Date.now() > end) throw new Error(`Not finished after ${seconds} s: ${JSON.stringify(record)}`);
      await sleep(pause);
    }
  }

  // The event stream of a task ends when the task does, so waiting costs the service no requests. If the stream breaks, polling goes on.
  async function followTask(id: string, seconds: number): Promise<void> {
    const headers = { Authorization: `Bearer ${key}` };
    const signal = AbortSignal.timeout(seconds * 1000);
    const stream = await fetch(`${url}/tasks/${id}/events`, { headers, signal });
    await stream.text();
  }

  const runTask = (body: TaskBody, seconds = DEFAULT_SECONDS) => run<Task>("/tasks", body, seconds);

  async function fetchFile(from: string): Promise<Fetched> {
    const response = await fetch(from);
    const bytes = await response.bytes();
    if (response.status !== 200) throw new Error(`GET ${from}: ${response.status}`);
    const path = join(folder, `${fetched++}-${basename(new URL(from).pathname)}`);
    await writeFile(path, bytes);
    return { path, mime: response.headers.get("Content-Type") ?? "" };
  }

  return {
    request,
    runTask,
    runStep: (body, seconds = DEFAULT_SECONDS) => run<Step>("/steps", body, seconds),
    async encode(body, seconds) {
      const task = await runTask(body, seconds);
      if (task.status !== "succeeded" || !task.output) {
        throw new Error(`The task did not succeed: ${JSON.stringify(task.error)} (${JSON.stringify(body)})`);
      }
      return { task, ...(await fetchFile(task.output)) };
    },
    fetchFile,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
