import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { MediaError } from "../../src/core/errors.ts";
import { buildAssets } from "../docs/build-assets.ts";
import { buildFastCore } from "./build/build-core.ts";
import { buildPage } from "./build/build-page.ts";
import { type NativeOrder, nativeProgram } from "./native-program.ts";
import { ROOT, type Settings } from "./settings.ts";
import { openState } from "./state.ts";
import { createHost, type Host } from "./supervisor.ts";
import { findProgram } from "./system.ts";
import { registryOf, workerProgram } from "./worker-program.ts";

/** How to start a local service, beside its settings. */
export interface ServiceOptions extends Settings {
  /** Builds and loads the Workers anew when their code changes; default false. */
  watch?: boolean;
  /** How many native encoders are started where ffmpeg is installed and no `NATIVE_ENCODER_URL` is set; default 1. */
  native?: number;
  /** Name servers, `address:port`, that the hosts of inputs are looked up at before they are asked; default the system's own. */
  dns?: readonly string[];
  /** Serves the page at `/`, built anew; default false. */
  page?: boolean;
  /** Takes a line about what is missing, or about a program that ended by itself; default standard error. */
  tell?: (line: string) => void;
  /** Ends a start that is no longer wanted; the start then rejects. */
  signal?: AbortSignal;
}

/** A running local service. */
export interface Service {
  /** Its base URL, without a slash at the end. */
  url: string;
  /** The running processes of the service, of one of its Workers, or of its native encoders; their ffmpeg are children of these. */
  pids(program?: WorkerName | "native"): number[];
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
  const api = createHost(workerProgram("framewright", state), state, tell);
  const encoder = createHost(workerProgram("framewright-encoder", state), state, tell);
  const native_token = options.native_token ?? randomBytes(32).toString("base64url");
  const natives = Array.from({ length: countNatives(options, tell) }, (_, index) =>
    createHost(nativeProgram(`native-${index + 1}`, native_token, state), state, tell),
  );
  const hosts = { framewright: [api], "framewright-encoder": [encoder], native: natives };
  const all = Object.values(hosts).flat();
  const end = async (signal?: NodeJS.Signals) => {
    await Promise.all(all.map((host) => host.end(signal)));
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
    dns: null,
    vars: {},
    secrets: {},
  });
  // Not dist/: the files of a running service must not change under it.
  const assets = join(state.scratch, "assets");
  try {
    options.signal?.throwIfAborted();
    await requireFreePort(options.port);
    await buildAssets(pathToFileURL(`${assets}/`));
    await buildFastCore();
    if (options.page) await buildPage(assets);
    const [, ...started] = await Promise.all([
      encoder.start(order("framewright-encoder")),
      ...natives.map((native) => startNative(native, options, tell)),
    ]);
    const native_urls = started.filter((url) => url !== null);
    // A Worker that starts reads who is there; only later does it hear of others by and by.
    await until(
      () => existsSync(join(registryOf(state), "framewright-encoder")),
      "The encoder is not found.",
    );
    const url = await api.start({
      ...order("framewright"),
      port: options.port,
      assets,
      dns: options.dns ?? [],
      vars: {
        // There are no containers here.
        NATIVE_INSTANCES: "0",
        ...(native_urls.length > 0 && { NATIVE_ENCODER_URL: native_urls.join(",") }),
        ...options.vars,
      },
      secrets: {
        API_KEYS: options.api_keys,
        MEDIA_SIGNING_KEY: state.signing_key,
        CONNECTION_KEYS: options.connection_keys ?? state.connection_key,
        NATIVE_ENCODER_TOKEN: native_token,
      },
    });
    await until(() => answers(`${url}/health`), `${url}/health does not answer with 200.`);
    return {
      url,
      pids: (program) => (program ? hosts[program] : all).flatMap((host) => host.pids()),
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

const LIGHT_ONLY =
  "heavy work (h265, av1, avif, long or large video) will fail as encoder_unavailable; light work runs.";

function countNatives({ native = 1, vars }: ServiceOptions, tell: (line: string) => void): number {
  if (native === 0 || vars.NATIVE_ENCODER_URL) return 0;
  if (findProgram("ffmpeg") && findProgram("ffprobe")) return native;
  tell(`ffmpeg is not installed: ${LIGHT_ONLY}`);
  return 0;
}

// An ffmpeg that does not work is as good as none.
async function startNative(
  native: Host<NativeOrder>,
  { signal }: ServiceOptions,
  tell: (line: string) => void,
): Promise<string | null> {
  try {
    return await native.start({ port: 0 });
  } catch (thrown) {
    if (!signal?.aborted) tell(`${thrown instanceof Error ? thrown.message : thrown}: ${LIGHT_ONLY}`);
    await native.end("SIGKILL");
    return null;
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
