import { createWasi, createWasiFiles, Exit } from "../../../src/encoders/wasm/fast-core.ts";

/** Runs a program that was linked as the core is; returns its exit code and the lines that it printed. */
export function runProgram(module: WebAssembly.Module): { code: number; output: string[] } {
  const memory = new WebAssembly.Memory({ initial: 512, maximum: 2048 });
  let text = "";
  const print = (bytes: Uint8Array) => {
    text += new TextDecoder().decode(bytes);
  };
  const { exports } = new WebAssembly.Instance(module, {
    env: { memory },
    framewright: { grow: (pages: number) => void memory.grow(pages) },
    wasi_snapshot_preview1: createWasi({ args: ["check"], memory, files: createWasiFiles(() => {}), print }),
  });
  let code = 0;
  try {
    (exports._start as () => void)();
  } catch (thrown) {
    if (!(thrown instanceof Exit)) throw thrown;
    code = thrown.code;
  }
  return { code, output: text.trim().split("\n") };
}
