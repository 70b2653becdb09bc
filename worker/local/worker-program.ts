import { rmSync } from "node:fs";
import { join } from "node:path";
import type { HostOrder, HostReply } from "./host.ts";
import { spawnScript } from "./spawn.ts";
import type { State } from "./state.ts";
import type { Program } from "./supervisor.ts";

/** Returns the folder through which the Workers of one service find each other. */
export function registryOf(state: State): string {
  return join(state.scratch, "registry");
}

/** Describes a Worker of the service as a local program; see host.ts. */
export function workerProgram(worker: string, state: State): Program<HostOrder> {
  return {
    name: worker,
    spawn: () => spawnScript(join(import.meta.dirname, "host.ts"), worker, state, envOf(state)),
    begin: (child, order) =>
      new Promise<string>((resolve, reject) => {
        child.once("message", (reply: HostReply) => {
          if (reply.type === "ready") resolve(reply.url);
          else reject(new Error(reply.message.split("\n")[0] ?? ""));
        });
        // Secrets go over the channel: arguments and environment are visible in /proc.
        child.send(order, (error) => error && reject(error));
      }),
    // A stale entry would keep the next process from registering under the same name.
    clear: () => rmSync(join(registryOf(state), worker), { force: true }),
  };
}

function envOf(state: State): NodeJS.ProcessEnv {
  return {
    NO_COLOR: "1",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_LOG_PATH: join(state.scratch, "wrangler.log"),
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    CLOUDFLARE_DEV_REGISTRY_PATH: registryOf(state),
    X_LOCAL_EXPLORER: "false",
    X_LOCAL_OBSERVABILITY: "false",
    // The simulated R2 reads bytes in pieces of 4 KB. Their garbage would otherwise make V8 enlarge its young generation,
    // and the process grow by tens of MB with every large file.
    MINIFLARE_WORKERD_V8_FLAGS: "--max-semi-space-size=4",
  };
}
