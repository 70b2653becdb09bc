import { join } from "node:path";
import { openState } from "../../worker/local/state.ts";
import { createHost, registryOf } from "../../worker/local/supervisor.ts";

/** Starts the bare Worker the way the service's own are started, below the folder given; gives its URL. */
export async function startBare(dir: string, ends: AsyncDisposableStack): Promise<string> {
  const state = await openState(join(dir, "bare"));
  ends.defer(() => state.release());
  const host = createHost("framewright-bare", state, (line) => console.error(line));
  ends.defer(() => host.end());
  const config = join(import.meta.dirname, "wrangler.toml");
  const places = { data: state.data, registry: registryOf(state) };
  return host.start({ config, ...places, port: 0, assets: null, watch: false, vars: {}, secrets: {} });
}
