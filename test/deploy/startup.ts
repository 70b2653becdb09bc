import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const PROGRAM = `
  import { readFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  import { fileURLToPath } from "node:url";
  const [bundle, classes] = process.argv.slice(1);
  registerHooks({
    resolve: (name, context, next) =>
      name === "cloudflare:workers"
        ? { url: "data:text/javascript," + encodeURIComponent(classes), shortCircuit: true }
        : next(name, context),
    load(url, context, next) {
      const isWasm = url.endsWith(".wasm");
      if (!isWasm && !url.endsWith(".bin")) return next(url, context);
      const bytes = readFileSync(fileURLToPath(url));
      globalThis.modules ??= new Map();
      modules.set(url, isWasm ? new WebAssembly.Module(bytes) : new Uint8Array(bytes).buffer);
      const source = "export default modules.get(" + JSON.stringify(url) + ")";
      return { format: "module", source, shortCircuit: true };
    },
  });
  const before = process.cpuUsage();
  const { default: worker } = await import(bundle);
  const { user, system } = process.cpuUsage(before);
  if (typeof worker.fetch !== "function") throw new Error("This is no Worker.");
  console.log((user + system) / 1000);
  process.exit(0);
`;

const IMPORT = /import \{([^}]*)\} from "cloudflare:workers"/g;

// Other work of the machine adds to each.
const RUNS = 3;

/** Returns the milliseconds of processor time in which a Worker's bundle is compiled and its global scope runs, the least of a few runs. */
export async function measureStartup(bundle: string): Promise<number> {
  const imports = (await readFile(bundle, "utf8")).matchAll(IMPORT);
  const names = [...imports].flatMap(([, list = ""]) =>
    list.split(",").map((each) => each.trim().split(" ")[0]),
  );
  // Node has the engine of workerd, but not its modules.
  const classes = [...new Set(names)].map((name) => `export class ${name} {}`).join("\n");
  const args = ["--input-type=module", "--eval", PROGRAM, pathToFileURL(bundle).href, classes];
  let min = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const { stdout } = await promisify(execFile)(process.execPath, args);
    min = Math.min(min, Number(stdout));
  }
  return min;
}
