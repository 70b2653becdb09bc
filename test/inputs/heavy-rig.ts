import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Task } from "../../src/runs/task.ts";
import { COMPILE_CACHE } from "../../worker/local/programs.ts";
import { startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { NO_LIMITS } from "../fixtures/no-limits.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { storedBytes } from "../fixtures/stored-media.ts";
import { type FrontDoor, openFrontDoor } from "../judge/front-door.ts";
import { type Gate, startGate } from "./heavy-gate.ts";

/** A native encoder in a process that the test controls. */
export interface Native {
  readonly url: string;
  /** Ends it like a crash; `restart` starts it again at the same address. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Process ids of its ffmpegs, even of those that outlived it. */
  ffmpegs(): number[];
  /** Everything left in the folders of its jobs. */
  left(): Promise<string[]>;
  close(): Promise<void>;
}

/** The whole service with native encoders that the test controls, which reach it through a gate. */
export interface HeavyRig {
  door: FrontDoor;
  origin: Origin;
  gate: Gate;
  natives: readonly Native[];
  /** The folder of the service's state and logs. */
  folder: string;
  create(body: object): Promise<Task>;
  get(id: string): Promise<Task>;
  /** Waits for a task's end. */
  finish(id: string, seconds?: number): Promise<Task>;
  ffmpegs(): number[];
  left(): Promise<string[]>;
  /** Keys of a run's stored objects and open uploads. */
  stored(id: string): string[];
  close(): Promise<void>;
}

const KEY = "heavy-key";
/** The token that native encoders of these tests expect. */
export const HEAVY_TOKEN = "heavy-token";
const MAIN = join(import.meta.dirname, "..", "..", "worker", "container", "main.ts");

/** Starts a native encoder in a new folder. */
export async function startNative(env: Record<string, string>): Promise<Native> {
  const home = mkdtempSync(join(tmpdir(), "framewright-heavy-"));
  let child: ChildProcess;
  const start = async (port: string): Promise<string> => {
    child = fork(MAIN, [], {
      execArgv: [],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        NATIVE_ENCODER_TOKEN: HEAVY_TOKEN,
        TMPDIR: home,
        ...env,
        PORT: port,
      },
    });
    const [message] = (await once(child, "message")) as [{ url: string }];
    return message.url;
  };
  const url = await start("0");
  const native: Native = {
    url,
    async kill() {
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
    async restart() {
      await start(new URL(url).port);
    },
    ffmpegs: () => processesIn(home),
    async left() {
      // A folder may vanish while it is listed; then it is listed again.
      const paths = await readdir(home, { recursive: true }).catch(() => native.left());
      return paths.filter((path) => path.includes("job-"));
    },
    async close() {
      if (child.exitCode === null && child.signalCode === null) {
        const exit = once(child, "exit");
        child.disconnect();
        await exit;
      }
      await rm(home, { recursive: true, force: true });
    },
  };
  return native;
}

/** Starts the service with this many native encoders, and settings for both. */
export async function startHeavyRig(
  count: number,
  env: Record<string, string> = {},
  native_env: Record<string, string> = {},
): Promise<HeavyRig> {
  const folder = mkdtempSync(join(tmpdir(), "framewright-heavy-"));
  const [origin, gate, ...natives] = await Promise.all([
    startOrigin(),
    startGate(),
    ...Array.from({ length: count }, () => startNative(native_env)),
  ]);
  const settings = parseSettings({
    ...{ PORT: "0", API_KEYS: KEY, STATE_DIR: folder, PUBLIC_URL: gate.url },
    ...{ NATIVE_ENCODER_URL: natives.map(({ url }) => url).join(","), NATIVE_ENCODER_TOKEN: HEAVY_TOKEN },
    ...{ ...NO_LIMITS, ...env },
  });
  const service = await startService(settings);
  gate.open(service.url);
  const door = openFrontDoor(service.url, KEY);
  const get = async (id: string) => (await door.request<Task>("GET", `/tasks/${id}`)).body;
  return {
    ...{ door, origin, gate, natives, folder, get },
    async create(body) {
      const { status, body: task } = await door.request<Task>("POST", "/tasks", body);
      if (status !== 201) throw new Error(JSON.stringify(task));
      return task;
    },
    async finish(id, seconds = 90) {
      return until(async () => {
        const task = await get(id);
        return task.finished_at === null ? null : task;
      }, seconds * 1000);
    },
    ffmpegs: () => natives.flatMap((native) => native.ffmpegs()),
    left: async () => (await Promise.all(natives.map((native) => native.left()))).flat(),
    stored: (id) => storedBytes(folder).filter((key) => key.includes(id)),
    async close() {
      await service.stop();
      await Promise.all([...natives.map((native) => native.close()), origin.close(), gate.close()]);
      await door.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Polls often until the result is truthy; rejects when the time is up. */
export async function until<T>(look: () => Promise<T> | T, most_ms = 30_000): Promise<NonNullable<T>> {
  for (const end = Date.now() + most_ms; ; await sleep(20)) {
    const value = await look();
    if (value) return value;
    if (Date.now() > end) throw new Error(`Not so within ${most_ms} ms: ${look}`);
  }
}

/** Process ids of the ffmpegs that work in a folder, whatever their parent is by now. */
export function processesIn(home: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      if (!(pid > 0)) return false;
      try {
        const [name, ...rest] = readFileSync(`/proc/${pid}/environ`, "utf8")
          .split("\0")
          .filter((entry) => entry.startsWith("TMPDIR="));
        const state = readFileSync(`/proc/${pid}/stat`, "utf8");
        return (
          rest.length === 0 &&
          name?.startsWith(`TMPDIR=${home}/`) &&
          name.includes("/job-") &&
          !/\) Z /.test(state)
        );
      } catch {
        return false;
      }
    });
}
