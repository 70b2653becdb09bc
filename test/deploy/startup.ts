import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

// Node has the engine of workerd, but not its modules.
const CLOUDFLARE = ["DurableObject", "RpcTarget", "WorkerEntrypoint", "WorkflowEntrypoint", "waitUntil"]
  .map((name) => `export class ${name} {}`)
  .join("\n");

const PROGRAM = `
  import { readFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  import { fileURLToPath } from "node:url";
  registerHooks({
    resolve: (name, context, next) =>
      name === "cloudflare:workers"
        ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(CLOUDFLARE)}`)}, shortCircuit: true }
        : next(name, context),
    load(url, context, next) {
      if (!url.endsWith(".wasm")) return next(url, context);
      globalThis.modules ??= new Map();
      modules.set(url, new WebAssembly.Module(readFileSync(fileURLToPath(url))));
      const source = "export default modules.get(" + JSON.stringify(url) + ")";
      return { format: "module", source, shortCircuit: true };
    },
  });
  const before = process.cpuUsage();
  const { default: worker } = await import(process.argv[1]);
  const { user, system } = process.cpuUsage(before);
  if (typeof worker.fetch !== "function") throw new Error("This is no Worker.");
  console.log((user + system) / 1000);
  process.exit(0);
`;

/** Returns the milliseconds of processor time in which a Worker's bundle is compiled and its global scope runs. */
export async function measureStartup(bundle: string): Promise<number> {
  const args = ["--input-type=module", "--eval", PROGRAM, pathToFileURL(bundle).href];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}
