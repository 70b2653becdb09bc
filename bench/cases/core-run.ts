import { readFile, stat } from "node:fs/promises";
import { createPagedFile } from "../../src/encoders/wasm/core-files.ts";
import { createFastCore } from "../../src/encoders/wasm/fast-core.ts";
import { createWasmCore } from "../../src/encoders/wasm/stock-core.ts";
import { stockCore } from "../../test/encoders/stock-core.ts";

// Runs a core once in a separate process: `node core-run.ts (stock | path of the core) input args…`.
// Prints CPU seconds and bytes.
const [which = "", input = "", ...args] = process.argv.slice(2);
const memory = 2 ** 30;
const size = (await stat(input)).size;
const file = createPagedFile(size, [{ start: 0, bytes: await readFile(input) }]);
const core =
  which === "stock"
    ? await createWasmCore({ ...stockCore, memory })
    : createFastCore({ module: await WebAssembly.compile(await readFile(which)), memory });
core.mount("/in/input", file);
core.makeFolder("/out");
const before = process.cpuUsage();
const { code, log } = core.exec(args);
const { user, system } = process.cpuUsage(before);
if (code !== 0) throw new Error(log.join("\n"));
const bytes = core.take("/out").reduce((sum, each) => sum + each.bytes.length, 0);
console.log(JSON.stringify({ value: (user + system) / 1e6, bytes }));
