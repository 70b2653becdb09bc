import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import * as errors from "./errors.ts";
import { endGroup, groupMembers, type State, signalGroup } from "./state.ts";

/** How to run a program that serves HTTP; its order includes the port. */
export interface Program<Order extends { port: number }> {
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
