import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { findBuilt } from "../../../core/cache.ts";
import type { DamageEnd, DamageTask } from "./damage-thread.ts";
import type { FastResult, FastTask } from "./fast-thread.ts";

/** Path of the fast core; null where it has not been built. */
export const CORE = findBuilt("core");
/** Path of the fast core for VP9, built with it. */
export const VP9_CORE = findBuilt("vp9");

if (!CORE) console.warn("The fast core is not built here (npm run core:build): its tests are skipped.");

const modules = new Map<string, WebAssembly.Module>();

// Compiled once, as compiling a core takes longer than most runs; all threads share the code.
function compile(path: string): WebAssembly.Module {
  const module = modules.get(path) ?? new WebAssembly.Module(readFileSync(path));
  modules.set(path, module);
  return module;
}

/** Runs the fast core in a thread of its own, which is ended after `limit` milliseconds: wasm that hangs cannot be stopped otherwise. */
export function runFast(
  { core = CORE ?? "", ...task }: Omit<FastTask, "module"> & { core?: string },
  limit = 120_000,
): Promise<FastResult[]> {
  const workerData: FastTask = { ...task, module: compile(core) };
  return answerOf(new Worker(new URL("fast-thread.ts", import.meta.url), { workerData }), limit);
}

// A run lasts a tenth of a second; a core that takes this long hangs.
const HANGS_MS = 60_000;

/** Runs a core on damaged copies of an input in one thread, which is ended once it hangs; resolves with the ends until then. */
export async function runDamaged({
  core = CORE ?? "",
  ...task
}: Omit<DamageTask, "module"> & { core?: string }): Promise<DamageEnd[]> {
  const workerData: DamageTask = { ...task, module: compile(core) };
  const thread = new Worker(new URL("damage-thread.ts", import.meta.url), { workerData });
  const ends: DamageEnd[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(resolve, HANGS_MS);
      };
      thread.on("message", (end: DamageEnd) => {
        ends.push(end);
        wait();
      });
      thread.once("error", reject);
      thread.once("exit", () => resolve());
      wait();
    });
    return ends;
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

/** Runs the program that compares every kernel with the scalar function that it replaces. */
export function runCheck(limit = 120_000): Promise<{ code: number; output: string[] }> {
  const workerData = { program: findBuilt("check") };
  return answerOf(new Worker(new URL("check-thread.ts", import.meta.url), { workerData }), limit);
}

async function answerOf<T>(thread: Worker, limit: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`The core did not end within ${limit} ms.`)), limit);
      thread.once("message", resolve);
      thread.once("error", reject);
      thread.once("exit", () => reject(new Error("The thread of the core ended.")));
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}
