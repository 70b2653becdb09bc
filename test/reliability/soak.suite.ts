import { randomUUID } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { EncodeKind } from "../../src/core/formats.ts";
import type { Task } from "../../src/core/task.ts";
import { clip } from "../fixtures/clips.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { readFacts } from "../judge/facts.ts";
import { type Receiver, startReceiver } from "../worker/webhooks/receiver.ts";
import { type Lab, startLab } from "./lab.ts";

const MINUTES = Number(process.env.SOAK_MINUTES ?? 60);
// Tasks that are open at once; as one ends, the next is created.
const OPEN = Number(process.env.SOAK_OPEN ?? 12);
// A kill each so many seconds, on average.
const KILL_SECONDS = 20;
const VICTIMS = ["framewright", "framewright-encoder", "native", "all"] as const;
// How many attempts a step has: a task that meets as many kills may fail with `worker_lost`, and one that meets one fewer with the
// fault of its source.
const ATTEMPTS = 3;
const MIB = 2 ** 20;
const MINUTE = 60_000;

interface Wish {
  kind: EncodeKind;
  input: string;
  options: object;
  /** The kind of the error that it ends with; null when it succeeds. */
  error: string | null;
}

let lab: Lab;
let origin: Origin;
let receiver: Receiver;
let webhook_url: string;
let wishes: readonly Wish[];
beforeAll(async () => {
  [lab, origin, receiver] = await Promise.all([
    startLab({ more: { WATCH_SECONDS: "5", WEBHOOK_RETRY_SECONDS: "1" } }),
    startOrigin(),
    startReceiver(),
  ]);
  // Every fifth delivery fails, and for a moment now and then every request for a source: three attempts last longer.
  // No delivery fails twice for this, as the delays grow by four.
  const refused = new Set<string>();
  webhook_url = receiver.take("/ends", (request, { event: { id } }) => {
    if (request % 5 !== 4 || refused.has(id)) return 200;
    refused.add(id);
    return 503;
  });
  const serve = async (name: "mp4" | "wav" | "png" | "mkv", options: object = {}) => {
    const file = await clip(name, options);
    return origin.serve(`/${name}`, () => (Date.now() % 20_000 < 1500 ? { status: 503 } : { file }));
  };
  const [mp4, wav, png, mkv] = await Promise.all([serve("mp4"), serve("wav"), serve("png"), serve("mkv")]);
  const none = `${origin.url}/none.mp4`;
  wishes = [
    { kind: "image", input: png, options: { format: "jpeg", width: 32 }, error: null },
    { kind: "audio", input: wav, options: { format: "flac" }, error: null },
    { kind: "video", input: mp4, options: { width: 80 }, error: null },
    { kind: "image", input: mp4, options: { format: "webp", start: 1 }, error: null },
    { kind: "video", input: mkv, options: { format: "webm", end: 1 }, error: null },
    { kind: "image", input: png, options: { format: "avif", width: 32 }, error: null },
    { kind: "adaptive_video", input: mp4, options: {}, error: null },
    { kind: "audio", input: mp4, options: { format: "mp3" }, error: null },
    { kind: "video", input: none, options: {}, error: "input_not_found" },
    { kind: "audio", input: png, options: {}, error: "input_no_audio" },
  ];
}, 10 * MINUTE);
afterAll(() => Promise.all([lab?.close(), origin?.close(), receiver?.close()]));

/** Requests until it is answered: the service may be down. */
async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = {
    ...lab.headers,
    "Content-Type": "application/json",
    "Idempotency-Key": randomUUID(),
  };
  for (const end = Date.now() + 15 * MINUTE; ; await sleep(200)) {
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(lab.url + path, init).catch(() => null);
    const text = await response?.text().catch(() => null);
    if (response?.ok && text) return JSON.parse(text);
    const passing = !response || text === null || [409, 500, 502, 503].includes(response.status);
    if (!passing) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    if (Date.now() > end) throw new Error(`${method} ${path} keeps failing (${response?.status}).`);
  }
}

/** Creates tasks, a few at a time, until the time is up; resolves with each and its wish. */
async function createUntil(end: number): Promise<Map<string, Wish>> {
  const made = new Map<string, Wish>();
  let next = 0;
  const lane = async () => {
    while (Date.now() < end) {
      const wish = wishes[next++ % wishes.length];
      if (!wish) return;
      const { kind, input, options } = wish;
      const { id } = await ask<Task>("POST", "/tasks", { kind, input, options, webhook_url });
      made.set(id, wish);
      await vi.waitUntil(async () => (await ask<Task>("GET", `/tasks/${id}`)).finished_at !== null, {
        timeout: 20 * MINUTE,
        interval: 250,
      });
    }
  };
  await Promise.all(Array.from({ length: OPEN }, lane));
  return made;
}

// A machine at full load may not start all of it in time.
async function restart(): Promise<void> {
  for (const end = Date.now() + 10 * MINUTE; ; ) {
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

async function listAll(): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let page: Task[] | null = null; page === null || page.length === 100; tasks.push(...page)) {
    const after = tasks.at(-1)?.id;
    page = await ask<Task[]>("GET", `/tasks?limit=100${after ? `&after=${after}` : ""}`);
  }
  return tasks;
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
    // Below `data`: the Worker, the version of the layout, the kind of storage and its class.
    const part = parts.slice(0, parts[0] === "data" ? 5 : 1).join("/");
    const { size } = await stat(join(file.parentPath, file.name)).catch(() => ({ size: 0 }));
    bytes.set(part, (bytes.get(part) ?? 0) + size);
  }
  return new Map([...bytes].toSorted(([, one], [, other]) => other - one));
}

test(
  "tasks of all kinds survive the death of every program: none is lost, doubled or stuck",
  async () => {
    const started = Date.now();
    const end = started + MINUTES * MINUTE;
    const [made, kills] = await Promise.all([createUntil(end), killUntil(end)]);
    const tasks = await listAll();
    expect(tasks.map(({ id }) => id).toSorted()).toEqual([...made.keys()].toSorted());
    const killed = ({ created_at, finished_at }: Task) =>
      kills.filter((at) => at >= created_at * 1000 && at <= (finished_at ?? 0) * 1000 + 1000).length;
    const isWornOut = (task: Task) =>
      task.error?.retryable === true &&
      killed(task) >= ATTEMPTS - (task.error.kind === "input_unreachable" ? 1 : 0);
    for (const task of tasks.filter((task) => !isWornOut(task))) {
      const wish = made.get(task.id);
      const { status, error } = task;
      expect([wish, status, error?.kind ?? null]).toEqual([
        wish,
        wish?.error === null ? "succeeded" : "failed",
        wish?.error,
      ]);
    }
    // One output of each kind, whole.
    for (const wish of wishes.filter(({ error }) => error === null)) {
      const task = tasks.find((each) => made.get(each.id) === wish && each.error === null);
      if (!task?.output || wish.kind === "adaptive_video") continue;
      const { path } = await lab.door.fetchFile(task.output);
      const facts = await readFacts(path);
      expect(facts.picture ?? facts.sound).not.toBeNull();
    }
    // The end of each task is delivered, as its final record.
    const ends = () =>
      receiver.got("/ends").filter(({ event }) => /succeeded|failed|cancelled/.test(event.kind));
    await vi.waitUntil(() => new Set(ends().map(({ event }) => event.data.id)).size === tasks.length, {
      timeout: 15 * MINUTE,
      interval: 500,
    });
    const resident = await memory();
    for (const { id } of tasks) await lab.door.request("DELETE", `/tasks/${id}`);
    await vi.waitUntil(() => lab.stored().length === 0, { timeout: 10 * MINUTE, interval: 500 });
    const parts = await diskBytes();
    const disk = parts.values().reduce((sum, size) => sum + size, 0);
    console.log([...parts].map(([name, size]) => `${Math.round(size / 1024)} KiB ${name}`).join("\n"));
    const each = Math.round(disk / tasks.length / 1024);
    console.log(
      `${tasks.length} tasks (${tasks.filter(isWornOut).length} given up after ${ATTEMPTS} kills), ${kills.length} kills in ${Math.round((Date.now() - started) / MINUTE)} min; ` +
        `${Math.round(resident / MIB)} MiB of memory at the end; ${Math.round(disk / MIB)} MiB of disk after all were deleted (${each} KiB a task).`,
    );
    expect(kills.length).toBeGreaterThan(MINUTES);
    // Of the programs themselves; what a task leaves in memory would add up.
    expect(resident).toBeLessThan(2500 * MIB);
  },
  (MINUTES + 45) * MINUTE,
);
