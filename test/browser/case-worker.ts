import { runCase } from "./run-case.ts";

addEventListener("message", async ({ data: { module, name } }: MessageEvent) => {
  postMessage(await runCase(module, name));
});
