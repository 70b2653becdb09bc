import { type ChildProcess, fork } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as errors from "./errors.ts";
import type { HostOrder, HostReply } from "./host.ts";
import { ROOT } from "./settings.ts";
import { endGroup, groupMembers, type State, signalGroup } from "./state.ts";

/** How to run a program that serves HTTP; its order includes the port. */
interface Program<Order extends { port: number }> {
  name: string;
  /**
   * Starts the process with an IPC channel as the leader of a group, so that signals reach its children and Ctrl-C at a terminal reaches
   * only the supervisor. `port` is 0 until it is known.
   */
  spawn(port: number): ChildProcess;
  /** Sends the order; resolves to the program's URL once it responds, or rejects with a short reason. */
  begin(child: ChildProcess, order: Order): Promise<string>;
  /** Removes what a process leaves behind when it ends. */
  clear?(): void;
}

/** A supervised program, restarted when it ends unexpectedly. */
export interface Host<Order extends { port: number }> {
  /** Starts the program; resolves to its URL once it responds. */
  start(order: Order): Promise<string>;
  /** Lists the running processes of the program. */
  pids(): number[];
  /** Ends the program, cleanly or by a signal to all its processes; resolves when all are gone. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

// A machine at full load takes more than a minute to compile the light encoder.
const START_MS = 180_000;
const STOP_MS = 4_000;
const HEALTHY_MS = 30_000;
const BACK_OFF_MS = { first: 250, max: 10_000 } as const;

/** Creates a supervised program. Starts its process at once, because loading is slow; the process then waits for its order. */
export function createHost<Order extends { port: number }>(
  program: Program<Order>,
  state: State,
  tell: (line: string) => void,
): Host<Order> {
  const spawn = (port: number) => {
    const spawned = program.spawn(port);
    if (spawned.pid) state.note(spawned.pid);
    return spawned;
  };
  let child = spawn(0);
  let ending = false;
  let pause: number = BACK_OFF_MS.first;

  async function start(order: Order): Promise<string> {
    const running = child;
    const started = Date.now();
    const url = await begin(program, running, order, state);
    const same = { ...order, port: Number(new URL(url).port) };
    running.once("exit", (code, signal) => {
      if (ending) return;
      if (Date.now() - started > HEALTHY_MS) pause = BACK_OFF_MS.first;
      tell(`${program.name} ended (${signal ?? `code ${code}`}); starting it again.`);
      void startAgain(same);
    });
    return url;
  }

  async function startAgain(order: Order): Promise<void> {
    while (!ending) {
      if (child.pid) await endGroup(child.pid);
      program.clear?.();
      await sleep(pause);
      pause = Math.min(pause * 2, BACK_OFF_MS.max);
      if (ending) return;
      child = spawn(order.port);
      try {
        await start(order);
        return;
      } catch (thrown) {
        if (!ending) tell(thrown instanceof Error ? thrown.message : String(thrown));
      }
    }
  }

  return {
    start,
    pids: () => (child.pid ? groupMembers(child.pid) : []),
    async end(signal) {
      ending = true;
      const { pid } = child;
      if (!pid) return;
      if (signal) signalGroup(pid, signal);
      else if (child.connected) child.disconnect();
      for (let waited = 0; groupMembers(pid).length > 0 && waited < STOP_MS; waited += 10) await sleep(10);
      await endGroup(pid);
    },
  };
}

async function begin<Order extends { port: number }>(
  program: Program<Order>,
  child: ChildProcess,
  order: Order,
  state: State,
): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    const onExit = (code: number | null, signal: NodeJS.Signals | null) =>
      reject(errors.startEnded({ code, signal }));
    timer = setTimeout(() => reject(errors.startSilent({ seconds: START_MS / 1000 })), START_MS);
    child.once("exit", onExit);
    child.once("error", reject);
    // The process may have exited before the listeners were added.
    if (child.exitCode !== null || child.signalCode !== null) onExit(child.exitCode, child.signalCode);
  });
  try {
    return await Promise.race([program.begin(child, order), failed]);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    const log = state.log(program.name);
    throw errors.notStarted({ name: program.name, reason, log });
  } finally {
    clearTimeout(timer);
    // A late rejection would otherwise go unhandled.
    failed.catch(() => {});
  }
}

/** The order to start a native encoder. */
export interface NativeOrder {
  /** Port on 127.0.0.1; 0 for any free one. */
  port: number;
}

/** Describes the native encoder as a local program; its requests need the token. */
export function nativeProgram(name: string, token: string, state: State): Program<NativeOrder> {
  const temp = join(state.scratch, name);
  return {
    name,
    spawn(port) {
      mkdirSync(temp, { recursive: true });
      return spawnScript(join(ROOT, "worker", "container", "main.ts"), name, state, {
        HOST: "127.0.0.1",
        PORT: String(port),
        TMPDIR: temp,
        NATIVE_ENCODER_TOKEN: token,
      });
    },
    begin: (child) =>
      new Promise<string>((resolve, reject) => {
        child.once("message", (reply: HostReply) => {
          if (reply.type === "ready") resolve(reply.url);
          else reject(new Error(reply.message));
        });
      }),
    clear: () => rmSync(temp, { recursive: true, force: true }),
  };
}

/** Returns the folder through which the Workers of one service find each other. */
export function registryOf(state: State): string {
  return join(state.scratch, "registry");
}

/** Describes a Worker of the service as a local program; see host.ts. */
export function workerProgram(worker: string, state: State): Program<HostOrder> {
  return {
    name: worker,
    spawn: () => spawnScript(join(import.meta.dirname, "host.ts"), worker, state, envOf(state)),
    begin: (child, order) =>
      new Promise<string>((resolve, reject) => {
        child.once("message", (reply: HostReply) => {
          if (reply.type === "ready") resolve(reply.url);
          else reject(new Error(reply.message.split("\n")[0] ?? ""));
        });
        // Secrets go over the channel: arguments and environment are visible in /proc.
        child.send(order, (error) => error && reject(error));
      }),
    // A stale entry would keep the next process from registering under the same name.
    clear: () => rmSync(join(registryOf(state), worker), { force: true }),
  };
}

function envOf(state: State): NodeJS.ProcessEnv {
  return {
    NO_COLOR: "1",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: join(state.scratch, "wrangler.log"),
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    CLOUDFLARE_DEV_REGISTRY_PATH: registryOf(state),
    X_LOCAL_EXPLORER: "false",
    X_LOCAL_OBSERVABILITY: "false",
    // The garbage of R2's 4 KB reads would enlarge V8's young generation by tens of MB for every large file.
    MINIFLARE_WORKERD_V8_FLAGS: "--max-semi-space-size=4",
  };
}

/** The folder for `NODE_COMPILE_CACHE`, where Node caches compiled code; it shortens the start of our processes by a third. */
export const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "node");

/**
 * Starts one of our scripts as the leader of a new process group, with its output in a log and an IPC channel; the script exits when the
 * channel closes. It inherits only the environment variables that programs need, so that no setting leaks in.
 */
function spawnScript(path: string, log: string, state: State, env: NodeJS.ProcessEnv): ChildProcess {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  const file = openSync(state.log(log), "a", 0o600);
  const child = fork(path, [], {
    detached: true,
    stdio: ["ignore", file, file, "ipc"],
    execArgv: [],
    env: { PATH, HOME, TMPDIR, LANG, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
  });
  closeSync(file);
  return child;
}
