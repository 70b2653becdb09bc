import { expect, test } from "vitest";
import { CORE_NAMES } from "../../src/encoders/core/core-module.ts";
import { glueText } from "./stock-core.ts";

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

test("the core exits its main function through an abort without a message", () => {
  expect(glueText).toContain('function _abort(){abort("")}');
});
