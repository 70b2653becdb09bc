import { join } from "node:path";
import { registryOf, workerProgram } from "../worker/local/programs.ts";
import { openState } from "../worker/local/state.ts";
import { createHost } from "../worker/local/supervisor.ts";

const BARE = join(import.meta.dirname, "bare", "wrangler.toml");

/** Starts the Worker that does next to nothing; see bare/worker.ts. */
export function startBare(dir: string, ends: AsyncDisposableStack): Promise<string> {
  return startWorker("framewright-bare", BARE, dir, ends);
}

/** Starts a single Worker the way the service starts its own, with its state below the given folder; returns its URL. */
export async function startWorker(
  name: string,
  config: string,
  dir: string,
  ends: AsyncDisposableStack,
): Promise<string> {
  const state = await openState(join(dir, name));
  ends.defer(() => state.release());
  const host = createHost(workerProgram(name, state), state, (line) => console.error(line));
  ends.defer(() => host.end());
  const places = {
    data: join(state.dir, "data"),
    registry: registryOf(state),
    assets: null,
    media: null,
    dns: null,
  };
  return host.start({ config, ...places, port: 0, watch: false, vars: {}, secrets: {} });
}
