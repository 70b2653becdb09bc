import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { MediaError } from "../../src/core/errors.ts";
import { buildAssets } from "../docs/build-assets.ts";
import { ROOT, type Settings } from "./settings.ts";
import { openState } from "./state.ts";
import { createHost, type Host, registryOf } from "./supervisor.ts";

/** How to start a local service, beside its settings. */
export interface ServiceOptions extends Settings {
  /** Builds and loads the Workers anew when their code changes; default false. */
  watch?: boolean;
  /** Takes a line about a Worker that ended by itself; default standard error. */
  tell?: (line: string) => void;
  /** Ends a start that is no longer wanted; the start then rejects. */
  signal?: AbortSignal;
}

/** A running local service. */
export interface Service {
  /** Its base URL, without a slash at the end. */
  url: string;
  /** The running processes of the service, or of one of its Workers. */
  pids(worker?: WorkerName): number[];
  /** Sends a signal to every process of the service, as a crash would; resolves when all are gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Ends the service in order. */
  stop(): Promise<void>;
}

/** The Workers of the service and their configurations, below the package's folder. */
export const WORKERS = {
  framewright: "wrangler.toml",
  "framewright-encoder": "worker/encoder/wrangler.toml",
} as const;
/** The name of a Worker of the service. */
export type WorkerName = keyof typeof WORKERS;

const HEALTH_MS = 30_000;

/** The folder of a Worker's storage, in the layout of `wrangler --persist-to`. */
export function dataOf(
  { state_dir }: Pick<Settings, "state_dir">,
  worker: WorkerName = "framewright",
): string {
  return join(state_dir, "data", worker);
}

/** Starts the whole service on this machine, each Worker in processes of its own; throws a {@link MediaError} when it cannot start. The processes end when the calling process ends, however it ends. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const state = await openState(options.state_dir);
  const tell = options.tell ?? ((line) => console.error(line));
  const api = createHost("framewright", state, tell);
  const encoder = createHost("framewright-encoder", state, tell);
  const hosts: Record<WorkerName, Host> = { framewright: api, "framewright-encoder": encoder };
  const end = async (signal?: NodeJS.Signals) => {
    await Promise.all([api.end(signal), encoder.end(signal)]);
    state.release();
  };
  const abort = () => void end("SIGKILL");
  options.signal?.addEventListener("abort", abort);
  const order = (worker: WorkerName) => ({
    config: join(ROOT, WORKERS[worker]),
    port: 0,
    data: dataOf(options, worker),
    registry: registryOf(state),
    watch: options.watch ?? false,
    assets: null,
    vars: {},
    secrets: {},
  });
  // Not dist/: the files of a running service must not change under it.
  const assets = join(state.scratch, "assets");
  try {
    await requireFreePort(options.port);
    await buildAssets(pathToFileURL(`${assets}/`));
    await encoder.start(order("framewright-encoder"));
    // A Worker that starts reads who is there; only later does it hear of others by and by.
    await until(
      () => existsSync(join(registryOf(state), "framewright-encoder")),
      "The encoder is not found.",
    );
    const url = await api.start({
      ...order("framewright"),
      port: options.port,
      assets,
      vars: options.vars,
      secrets: { API_KEYS: options.api_keys, MEDIA_SIGNING_KEY: state.signing_key },
    });
    await until(() => answers(`${url}/health`), `${url}/health does not answer with 200.`);
    return {
      url,
      pids: (worker) => (worker ? hosts[worker].pids() : Object.values(hosts).flatMap((host) => host.pids())),
      kill: end,
      stop: () => end(),
    };
  } catch (thrown) {
    await end("SIGKILL");
    throw thrown;
  } finally {
    options.signal?.removeEventListener("abort", abort);
  }
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => null);
  await response?.body?.cancel();
  return response?.status === 200;
}

async function until(check: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  for (const end = Date.now() + HEALTH_MS; !(await check()); await sleep(25)) {
    if (Date.now() > end) throw new MediaError("service_unavailable", otherwise);
  }
}

function requireFreePort(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      const message =
        error.code === "EADDRINUSE"
          ? `Port ${port} is in use: set PORT to another, or to 0 for any free one.`
          : `Port ${port} cannot be used (${error.code}): set PORT to another, or to 0 for any free one.`;
      reject(new MediaError("service_unavailable", message));
    });
    server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
  });
}
