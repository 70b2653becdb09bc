import { expect, test } from "vitest";
import { CORE_NAMES, isExit, startCore } from "../../src/encoders/wasm/core-module.ts";
import { glueText, stockCore } from "./stock-core.ts";

const NAMED = [
  ["memory", CORE_NAMES.exports.memory, /wasmMemory=Module\["asm"\]\["(\w+)"\]/],
  ["stackSave", CORE_NAMES.exports.stackSave, /\(stackSave=Module\["asm"\]\["(\w+)"\]\)/],
  ["stackRestore", CORE_NAMES.exports.stackRestore, /\(stackRestore=Module\["asm"\]\["(\w+)"\]\)/],
  ["resizeHeap", CORE_NAMES.imports.resizeHeap, /"(\w+)":_emscripten_resize_heap/],
  ["socket", CORE_NAMES.imports.socket, /"(\w+)":___syscall_socket/],
] as const;

test.for(NAMED)("the glue and the driver use the same minified name for %s", ([, name, pattern]) => {
  expect(pattern.exec(glueText)?.[1]).toBe(name);
});

test.for([
  { name: "a run that succeeds", args: ["-version"], code: 0 },
  { name: "a run that fails", args: ["-i", "/none", "/none.wav"], code: 1 },
] as const)("the core ends $name through an abort without a message", async ({ args, code }) => {
  const { core } = await startCore(stockCore.createCore, stockCore.instantiate);
  core.setLogger(() => {});
  core.reset();
  const all = [...core.DEFAULT_ARGS, ...args];
  let thrown: unknown;
  try {
    core._ffmpeg(all.length, core.stringsToPtr(all));
  } catch (error) {
    thrown = error;
  }
  expect([isExit(thrown), core.ret]).toEqual([true, code]);
});

test.for([
  {
    name: "an abort with a message",
    thrown: new WebAssembly.RuntimeError("Aborted(OOM). Build with -sASSERTIONS for more info."),
  },
  { name: "a trap", thrown: new WebAssembly.RuntimeError("unreachable") },
  { name: "a text", thrown: "Aborted()." },
] as const)("$name is no exit", ({ thrown }) => {
  expect(isExit(thrown)).toBe(false);
});
