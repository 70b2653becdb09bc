import { Worker } from "node:worker_threads";
import type { CoreResult, CoreTask } from "./core-thread.ts";

/** Runs the stock core in a thread that is terminated after `limit` milliseconds, as nothing else stops hanging wasm. */
export async function runCore(task: CoreTask, limit = 120_000): Promise<CoreResult[]> {
  const thread = new Worker(new URL("core-thread.ts", import.meta.url), { workerData: task });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<CoreResult[]>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`the core did not end within ${limit} ms`)), limit);
      thread.once("message", resolve);
      thread.once("error", reject);
      thread.once("exit", () => reject(new Error("the core's thread exited early")));
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}
