import { type ChildProcess, fork } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { HostOrder, HostReply } from "./host.ts";
import { ROOT } from "./settings.ts";
import type { State } from "./state.ts";
import type { Program } from "./supervisor.ts";

/** The order to start a native encoder. */
export interface NativeOrder {
  /** Port on 127.0.0.1; 0 for any free one. */
  port: number;
}

/** Describes the native encoder as a local program; its requests need the token. */
export function nativeProgram(name: string, token: string, state: State): Program<NativeOrder> {
  const temp = join(state.scratch, name);
  return {
    name,
    spawn(port) {
      mkdirSync(temp, { recursive: true });
      return spawnScript(join(ROOT, "worker", "container", "main.ts"), name, state, {
        HOST: "127.0.0.1",
        PORT: String(port),
        TMPDIR: temp,
        NATIVE_ENCODER_TOKEN: token,
      });
    },
    begin: (child) =>
      new Promise<string>((resolve, reject) => {
        child.once("message", (reply: HostReply) => {
          if (reply.type === "ready") resolve(reply.url);
          else reject(new Error(reply.message));
        });
      }),
    clear: () => rmSync(temp, { recursive: true, force: true }),
  };
}

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
    // The garbage of R2's 4 KB reads would enlarge V8's young generation by tens of MB for every large file.
    MINIFLARE_WORKERD_V8_FLAGS: "--max-semi-space-size=4",
  };
}

/** The folder for `NODE_COMPILE_CACHE`, where Node caches compiled code; it shortens the start of our processes by a third. */
export const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "node");

/**
 * Starts one of our scripts as the leader of a new process group, with its output in a log and an IPC channel; the script exits when the
 * channel closes. It inherits only the environment variables that programs need, so that no setting leaks in.
 */
function spawnScript(path: string, log: string, state: State, env: NodeJS.ProcessEnv): ChildProcess {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  const file = openSync(state.log(log), "a", 0o600);
  const child = fork(path, [], {
    detached: true,
    stdio: ["ignore", file, file, "ipc"],
    execArgv: [],
    env: { PATH, HOME, TMPDIR, LANG, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
  });
  closeSync(file);
  return child;
}
