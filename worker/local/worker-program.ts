import { rmSync } from "node:fs";
import { join } from "node:path";
import type { HostOrder, HostReply } from "./host.ts";
import { spawnScript } from "./spawn.ts";
import type { State } from "./state.ts";
import type { Program } from "./supervisor.ts";

/** The folder in which the Workers of one service find each other. */
export function registryOf(state: State): string {
  return join(state.scratch, "registry");
}

/** A Worker of the service as a program of this machine; see host.ts. */
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
        // Secrets go over the channel, where nobody can look them up.
        child.send(order, (error) => error && reject(error));
      }),
    // Its entry would keep the next one from taking its name.
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
    // The simulated R2 takes bytes in pieces of 4 KB. What each leaves behind would else let V8 grow its young
    // generation, and the process by tens of MB with every large file.
    MINIFLARE_WORKERD_V8_FLAGS: "--max-semi-space-size=4",
  };
}
