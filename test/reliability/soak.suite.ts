import { randomUUID } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Job } from "../../src/runs/job.ts";
import type { Task } from "../../src/runs/task.ts";
import { clip } from "../fixtures/clips.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { storedBytes } from "../fixtures/stored-media.ts";
import { type Receiver, startReceiver } from "../worker/webhooks/receiver.ts";
import { type Lab, startLab } from "./lab.ts";
import { look, type Output, type SoakRequest, soakRequests } from "./soak-requests.ts";

const MINUTES = Number(process.env.SOAK_MINUTES ?? 60);
// Tasks that are open at once; as one ends, the next is created.
const OPEN = Number(process.env.SOAK_OPEN ?? 12);
// A kill each so many seconds, on average.
const KILL_SECONDS = 20;
const VICTIMS = ["framewright", "framewright-encoder", "native", "all"] as const;
// Attempts of a step. Each kill and each outage of its source may cost one.
const ATTEMPTS = 3;
// The source answers 503 for the first moments of each interval, which last less than the pause between two attempts.
const OUTAGE = { everyMs: 20_000, lastsMs: 1500 } as const;
// A task that has not ended by then is stuck, even on a loaded machine.
const STUCK_MINUTES = 8;
const KIB = 2 ** 10;
const MIB = 2 ** 20;
const MINUTE = 60_000;

interface Made {
  path: string;
  tasks: ReadonlyMap<string, Output>;
}

let lab: Lab;
let origin: Origin;
let receiver: Receiver;
let webhook_url: string;
let requests: readonly SoakRequest[];
beforeAll(async () => {
  [lab, origin, receiver] = await Promise.all([
    startLab({ more: { WATCH_SECONDS: "5", WEBHOOK_RETRY_SECONDS: "1" } }),
    startOrigin(),
    startReceiver(),
  ]);
  // Every fifth delivery fails once.
  const refused = new Set<string>();
  webhook_url = receiver.serve("/ends", (request, { event: { id } }) => {
    if (request % 5 !== 4 || refused.has(id)) return 200;
    refused.add(id);
    return 503;
  });
  const serve = async (name: "mp4" | "wav" | "png" | "mkv", options: object = {}) => {
    const file = await clip(name, options);
    return origin.serve(`/${name}`, () =>
      Date.now() % OUTAGE.everyMs < OUTAGE.lastsMs ? { status: 503 } : { file },
    );
  };
  const [mp4, wav, png, mkv] = await Promise.all([serve("mp4"), serve("wav"), serve("png"), serve("mkv")]);
  requests = soakRequests({ mp4, wav, png, mkv, none: `${origin.url}/none.mp4` });
}, 10 * MINUTE);
afterAll(() => Promise.all([lab?.close(), origin?.close(), receiver?.close()]));

/** Requests until it is answered: the service may be down. */
async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = {
    ...lab.headers,
    "Content-Type": "application/json",
    "Idempotency-Key": randomUUID(),
  };
  for (const end = Date.now() + STUCK_MINUTES * MINUTE; ; await sleep(200)) {
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(lab.url + path, init).catch(() => null);
    const text = await response?.text().catch(() => null);
    if (response?.ok && text) return JSON.parse(text);
    const passing = !response || text === null || [409, 500, 502, 503].includes(response.status);
    if (!passing) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    if (Date.now() > end) throw new Error(`${method} ${path} keeps failing (${response?.status}).`);
  }
}

/** Creates the task or the job of a request. */
async function create({ input, outputs }: SoakRequest): Promise<Made> {
  const bodies = outputs.map(({ end: _, ...body }) => body);
  const shared = { input, webhook_url };
  const record =
    bodies.length === 1
      ? await ask<Task>("POST", "/tasks", { ...shared, ...bodies[0] })
      : await ask<Job>("POST", "/jobs", { ...shared, outputs: bodies });
  const tasks = record.object === "job" ? record.tasks : [record];
  expect(tasks.length).toBe(outputs.length);
  return {
    path: `/${record.object}s/${record.id}`,
    tasks: new Map(tasks.flatMap(({ id }, index) => (outputs[index] ? [[id, outputs[index]]] : []))),
  };
}

/** Waits for a task or a job to end, and shows the state of one that never does. */
async function waitForEnd(path: string): Promise<void> {
  for (const end = Date.now() + STUCK_MINUTES * MINUTE; ; await sleep(250)) {
    const record = await ask<Task | Job>("GET", path);
    if (record.finished_at !== null) return;
    if (Date.now() > end) throw new Error(`${path} is stuck: ${JSON.stringify(record)}`);
  }
}

/** Creates tasks and jobs from the requests, a few at a time, until the time is up; resolves with all of them once they have ended. */
async function createUntil(end: number): Promise<Made[]> {
  const all: Made[] = [];
  let next = 0;
  const lane = async () => {
    while (Date.now() < end) {
      const request = requests[next++ % requests.length];
      if (!request) return;
      const task = await create(request);
      all.push(task);
      await waitForEnd(task.path);
    }
  };
  await Promise.all(Array.from({ length: OPEN }, lane));
  return all;
}

// A machine at full load may not start all of it in time.
async function restart(): Promise<void> {
  for (const end = Date.now() + STUCK_MINUTES * MINUTE; ; ) {
    try {
      return await lab.restart();
    } catch (thrown) {
      if (Date.now() > end) throw thrown;
    }
  }
}

/** Kills a program of the service now and then, which its supervisor restarts. Resolves with the times, in milliseconds. */
async function killUntil(end: number): Promise<number[]> {
  const kills: number[] = [];
  let order = [...VICTIMS];
  while (Date.now() < end) {
    const turn = kills.length % VICTIMS.length;
    if (turn === 0) order = VICTIMS.toSorted(() => Math.random() - 0.5);
    await sleep(Math.min(end - Date.now(), KILL_SECONDS * 2000 * Math.random()));
    kills.push(Date.now());
    const victim = order[turn];
    if (victim === "all") {
      await lab.crash();
      await restart();
    } else {
      for (const pid of lab.pids(victim)) process.kill(pid, "SIGKILL");
    }
  }
  return kills;
}

/** Counts the outages of the source that a task met. */
function countOutages({ created_at, finished_at }: Task): number {
  const last = Math.floor((finished_at ?? created_at) / OUTAGE.everyMs);
  return last - Math.ceil((created_at - OUTAGE.lastsMs) / OUTAGE.everyMs) + 1;
}

async function listAll<T extends { id: string }>(path: string): Promise<T[]> {
  const records: T[] = [];
  for (let page: T[] | null = null; page === null || page.length === 100; records.push(...page)) {
    const after = records.at(-1)?.id;
    page = await ask<T[]>("GET", `${path}?limit=100${after ? `&after=${after}` : ""}`);
  }
  return records;
}

async function memory(): Promise<number> {
  const sizes = lab.pids().map(async (pid) => {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Returns the bytes of each part of the service's folder, largest first. */
async function diskBytes(): Promise<Map<string, number>> {
  const bytes = new Map<string, number>();
  const files = await readdir(lab.folder, { recursive: true, withFileTypes: true });
  for (const file of files.filter((each) => each.isFile())) {
    const parts = relative(lab.folder, file.parentPath).split(sep);
    // Each start writes the page and its fonts again.
    if (parts[0] === "scratch" && parts[1] === "assets") continue;
    // Below `data`: the Worker, the version of the layout, the kind of storage and its class.
    const part = parts.slice(0, parts[0] === "data" ? 5 : 1).join("/");
    const { size } = await stat(join(file.parentPath, file.name)).catch(() => ({ size: 0 }));
    bytes.set(part, (bytes.get(part) ?? 0) + size);
  }
  return new Map([...bytes].toSorted(([, one], [, other]) => other - one));
}

test(
  "tasks and jobs of all kinds survive the death of every program: none is lost, doubled or stuck",
  async () => {
    const started = Date.now();
    // A soak that does not end shows where it stands.
    const report = (phase: string) =>
      console.log(`${((Date.now() - started) / MINUTE).toFixed(1)} min: ${phase}`);
    const end = started + MINUTES * MINUTE;
    const [made, kills] = await Promise.all([createUntil(end), killUntil(end)]);
    report(`all ${made.length} tasks and jobs ended, ${kills.length} kills`);
    const outputs = new Map(made.flatMap(({ tasks }) => [...tasks]));
    const tasks = await listAll<Task>("/tasks");
    expect(tasks.map(({ id }) => id).toSorted()).toEqual([...outputs.keys()].toSorted());
    const jobs = await listAll<Job>("/jobs");
    expect(jobs.map(({ id }) => `/jobs/${id}`).toSorted()).toEqual(
      made
        .map(({ path }) => path)
        .filter((path) => path.startsWith("/jobs/"))
        .toSorted(),
    );
    const byId = new Map(tasks.map((task) => [task.id, task]));
    const killed = ({ created_at, finished_at }: Task) =>
      kills.filter((at) => at >= created_at && at <= (finished_at ?? 0) + 1000).length;
    const isWornOut = (task: Task): boolean => {
      const before = byId.get(task.job?.after ?? "");
      if (before && isWornOut(before)) return true;
      const lost = killed(task) + (task.error?.kind === "input_unreachable" ? countOutages(task) : 0);
      return task.error?.retryable === true && lost >= ATTEMPTS;
    };
    const finishedTasks = tasks.filter((task) => !isWornOut(task));
    const strange = finishedTasks.filter(({ id, error }) => {
      const end = outputs.get(id)?.end;
      return (error?.kind ?? null) !== (typeof end === "object" ? end.error : null);
    });
    // Each task is shown with its error, its attempts and the kills that it met.
    expect(strange.map((task) => ({ task, kills: killed(task) }))).toEqual([]);
    expect(finishedTasks.filter(({ status, error }) => status !== (error ? "failed" : "succeeded"))).toEqual(
      [],
    );
    // The output of each kind that survived most kills, whole.
    const hardest = finishedTasks.toSorted((one, other) => killed(other) - killed(one));
    const results = requests
      .flatMap((request) => request.outputs)
      .filter(({ end }) => typeof end === "string")
      .map((output) => ({ output, task: hardest.find(({ id }) => outputs.get(id) === output) }))
      .filter(({ task }) => task !== undefined);
    const checks = results.map(async ({ output, task }) => ({
      ...output,
      end: await look(lab.door, task?.output ?? ""),
    }));
    expect(await Promise.all(checks)).toEqual(results.map(({ output }) => output));
    report("each kind of output is whole");
    // The start and the end of each task, and the end of each job as its final record, are one event each; it may be delivered twice.
    const due = [
      ...tasks.map(({ id, created_at }) => `task.created ${id} ${created_at}`),
      ...tasks.map(({ id, status, updated_at }) => `task.${status} ${id} ${updated_at}`),
      ...jobs.map(({ id, status, updated_at }) => `job.${status} ${id} ${updated_at}`),
    ].toSorted();
    const events = () =>
      new Map(
        receiver
          .requests("/ends")
          .filter(({ event }) => event.kind !== "task.updated")
          .map(({ event }) => [event.id, `${event.kind} ${event.data.id} ${event.data.updated_at}`]),
      )
        .values()
        .toArray()
        .toSorted();
    await vi.waitUntil(() => events().length >= due.length, { timeout: 15 * MINUTE, interval: 500 });
    report("every event delivered");
    const resident = await memory();
    const left = [...made];
    const remove = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const { status } = await lab.door.request("DELETE", next.path);
        expect([next.path, status]).toEqual([next.path, 204]);
      }
    };
    await Promise.all(Array.from({ length: 8 }, remove));
    report("all deleted");
    await vi.waitUntil(() => lab.stored().length === 0, { timeout: 10 * MINUTE, interval: 500 });
    expect(storedBytes(lab.folder)).toEqual([]);
    expect(events()).toEqual(due);
    const parts = await diskBytes();
    const disk = parts.values().reduce((sum, size) => sum + size, 0);
    console.log([...parts].map(([name, size]) => `${Math.round(size / KIB)} KiB ${name}`).join("\n"));
    console.log(
      `${tasks.length} tasks and ${jobs.length} jobs (${tasks.filter(isWornOut).length} tasks given up after ${ATTEMPTS} kills), ${kills.length} kills in ${Math.round((Date.now() - started) / MINUTE)} min; ` +
        `${Math.round(resident / MIB)} MiB of memory at the end; ${Math.round(disk / MIB)} MiB of disk after all were deleted.`,
    );
    expect(kills.length).toBeGreaterThan(MINUTES);
    // Even a slow machine has sent each kind of request several times.
    expect(made.length).toBeGreaterThan(3 * requests.length);
    // The base is for empty databases and their logs. Each task leaves its events, which are kept for a week, and what the local simulation
    // keeps of deleted objects.
    expect(disk).toBeLessThan(12 * MIB + tasks.length * 60 * KIB);
    // The memory is that of the programs themselves; what tasks leave behind would add up.
    expect(resident).toBeLessThan(2500 * MIB);
  },
  (MINUTES + 45) * MINUTE,
);
