import type { NewTask } from "../../src/client/client.ts";
import { openClientKit } from "./client.page.ts";

/** The result of a run in the page. */
export interface FirefoxRun {
  encoder: string;
  base64: string;
}

/** Opens a client of its own, encodes a file and closes the client. */
export async function run(path: string, wish: Pick<NewTask, "kind" | "options">): Promise<FirefoxRun> {
  openClientKit({ name: "firefox", encoderWorkers: 2 });
  const { client, base64, file } = kit;
  try {
    const { source, blob } = await client.run({ ...wish, input: await file(path) } as NewTask);
    return { encoder: source.encoder ?? "", base64: await base64(blob) };
  } finally {
    await client.close();
  }
}

/** Runs the program that compares each kernel with the scalar function, in a worker; resolves with its exit code and its lines. */
export function check(program: string): Promise<{ code: number; output: string[] }> {
  const worker = new Worker(new URL("./check-worker.ts", import.meta.url), { type: "module" });
  return new Promise<{ code: number; output: string[] }>((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(program);
  }).finally(() => worker.terminate());
}
