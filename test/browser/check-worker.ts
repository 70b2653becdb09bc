import { runProgram } from "../encoders/fast/run-program.ts";

addEventListener("message", async ({ data }: MessageEvent<string>) => {
  try {
    const response = await fetch(data);
    postMessage(runProgram(await WebAssembly.compile(await response.arrayBuffer())));
  } catch (thrown) {
    // A rejected promise would not reach the page.
    reportError(thrown);
  }
});
