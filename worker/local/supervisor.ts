import { type ChildProcess, fork } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MediaError } from "../../src/core/errors.ts";
import type { HostOrder, HostReply } from "./host.ts";
import { endGroup, groupMembers, signalGroup } from "./processes.ts";
import type { State } from "./state.ts";

/** One Worker in processes of its own, started again when they end by themselves. */
export interface Host {
  /** Starts the Worker; gives its URL once it answers. */
  start(order: HostOrder): Promise<string>;
  /** The running processes of the Worker. */
  pids(): number[];
  /** Ends the Worker, in order or by a signal to all its processes; resolves when all are gone. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

const START_MS = 60_000;
const STOP_MS = 4_000;
const HEALTHY_MS = 30_000;
const BACK_OFF_MS = { first: 250, most: 10_000 } as const;

/** The folder in which the Workers of one service find each other. */
export function registryOf(state: State): string {
  return join(state.scratch, "registry");
}

/** Starts the process of a Worker, which waits for its order; loading wrangler, the slow part, begins at once. */
export function createHost(worker: string, state: State, tell: (line: string) => void): Host {
  let child = spawnHost(worker, state);
  let ending = false;
  let pause: number = BACK_OFF_MS.first;

  async function start(order: HostOrder): Promise<string> {
    const running = child;
    const started = Date.now();
    const url = await giveOrder(running, order, state.log(worker));
    const same = { ...order, port: Number(new URL(url).port) };
    running.once("exit", (code, signal) => {
      if (ending) return;
      if (Date.now() - started > HEALTHY_MS) pause = BACK_OFF_MS.first;
      tell(`${worker} ended (${signal ?? `code ${code}`}); starting it again.`);
      void startAgain(same);
    });
    return url;
  }

  async function startAgain(order: HostOrder): Promise<void> {
    while (!ending) {
      if (child.pid) await endGroup(child.pid);
      // Its entry would keep the next one from taking its name.
      rmSync(join(registryOf(state), worker), { force: true });
      await sleep(pause);
      pause = Math.min(pause * 2, BACK_OFF_MS.most);
      if (ending) return;
      child = spawnHost(worker, state);
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

function spawnHost(worker: string, state: State): ChildProcess {
  const log = openSync(state.log(worker), "a", 0o600);
  const child = fork(join(import.meta.dirname, "host.ts"), [], {
    // A group of its own: a signal for it reaches workerd too, and Ctrl-C at a terminal reaches us alone.
    detached: true,
    stdio: ["ignore", log, log, "ipc"],
    execArgv: [],
    env: hostEnv(state),
  });
  closeSync(log);
  if (child.pid) state.note(child.pid);
  return child;
}

// Nothing of the user's environment but what programs need: secrets go over the channel, and no setting of wrangler's leaks in.
function hostEnv(state: State): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return {
    PATH,
    HOME,
    TMPDIR,
    LANG,
    NO_COLOR: "1",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: join(state.scratch, "wrangler.log"),
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    CLOUDFLARE_DEV_REGISTRY_PATH: registryOf(state),
    X_LOCAL_EXPLORER: "false",
    X_LOCAL_OBSERVABILITY: "false",
    // The simulated R2 takes bytes in pieces of 4 KB. What each leaves behind would else let V8 grow its young
    // generation, and the process by tens of MB with every large file.
    MINIFLARE_WORKERD_V8_FLAGS: "--max-semi-space-size=4",
  };
}

function giveOrder(child: ChildProcess, order: HostOrder, log: string): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const answer = new Promise<string>((resolve, reject) => {
    const fail = (why: string) =>
      reject(new MediaError("service_unavailable", `${order.config} did not start: ${why}; see ${log}.`));
    timer = setTimeout(() => fail(`no answer in ${START_MS / 1000} s`), START_MS);
    child.once("message", (reply: HostReply) => {
      if (reply.type === "ready") resolve(reply.url);
      else fail(reply.message.split("\n")[0] ?? "");
    });
    child.once("exit", (code, signal) => fail(`it ended with ${signal ?? `code ${code}`}`));
    child.once("error", (error) => fail(error.message));
    child.send(order, (error) => error && fail(error.message));
  });
  return answer.finally(() => clearTimeout(timer));
}
