import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { MediaError } from "../../src/media/errors.ts";
import { buildAssets } from "./build/build-assets.ts";
import { buildFastCore, buildFont } from "./build/build-core.ts";
import { buildPage } from "./build/build-page.ts";
import * as errors from "./errors.ts";
import { type NativeOrder, nativeProgram, registryOf, workerProgram } from "./programs.ts";
import { ROOT, type Settings } from "./settings.ts";
import { openState } from "./state.ts";
import { createHost, type Host } from "./supervisor.ts";
import { findProgram } from "./system.ts";

/** Options for starting a local service, beside its settings. */
export interface ServiceOptions extends Settings {
  /** Rebuilds and reloads the Workers when their code changes. Defaults to false. */
  watch?: boolean;
  /** How many native encoders to start if ffmpeg is installed and `NATIVE_ENCODER_URL` is not set. Defaults to 1. */
  native?: number;
  /** Name servers, `address:port`, that resolve the hosts of inputs. Defaults to the system's resolver. */
  dns?: readonly string[];
  /** Builds the page and serves it at `/`. Defaults to false. */
  page?: boolean;
  /** Receives a line when something is missing or a program ends unexpectedly. Prints it to standard error by default. */
  tell?: (line: string) => void;
  /** Aborts the start, which then rejects. */
  signal?: AbortSignal;
}

/** A running local service. */
export interface Service {
  /** Base URL without a trailing slash. */
  url: string;
  /** The generated API key; null when the settings name keys. */
  key: string | null;
  /** Lists the running processes of the service, of one Worker, or of the native encoders. */
  pids(program?: WorkerName | "native"): number[];
  /** Signals every process of the service, to simulate a crash; resolves when all are gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Shuts the service down cleanly. */
  stop(): Promise<void>;
}

/** The Workers of the service, with the paths of their configurations in the package's folder. */
export const WORKERS = {
  framewright: "wrangler.toml",
  "framewright-encoder": "worker/encoder/wrangler.toml",
} as const;
/** The name of a Worker of the service. */
export type WorkerName = keyof typeof WORKERS;

const PROJECT = "local";
const HEALTH_MS = 30_000;

/** Returns the folder of a Worker's storage, in the layout of `wrangler --persist-to`. */
export function dataOf(
  { state_dir }: Pick<Settings, "state_dir">,
  worker: WorkerName = "framewright",
): string {
  return join(state_dir, "data", worker);
}

/** Returns the folder of the service's media. */
export function mediaOf({ state_dir }: Pick<Settings, "state_dir">): string {
  return join(state_dir, "media");
}

/**
 * Starts the whole service on this machine, with separate processes for each Worker. They end with the calling process, even when that is
 * killed. Rejects with a {@link MediaError} when the service cannot start.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const state = await openState(options.state_dir);
  const key = options.api_keys === undefined ? state.apiKey() : null;
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
    media: null,
    registry: registryOf(state),
    watch: options.watch ?? false,
    assets: null,
    dns: null,
    vars: {},
    secrets: {},
  });
  // A build may change dist/ while the service runs, so the service builds a copy of its own.
  const assets = join(state.scratch, "assets");
  try {
    options.signal?.throwIfAborted();
    await requireFreePort(options.port);
    await buildAssets(pathToFileURL(`${assets}/`));
    await buildFastCore(undefined, tell);
    await buildFont();
    if (options.page) await buildPage(assets);
    const [, ...started] = await Promise.all([
      encoder.start(order("framewright-encoder")),
      ...natives.map((native) => startNative(native, options, tell)),
    ]);
    const native_urls = started.filter((url) => url !== null);
    // A Worker reads the registry when it starts and notices later entries only after a delay.
    await until(
      () => existsSync(join(registryOf(state), "framewright-encoder")),
      errors.encoderNotRegistered,
    );
    const url = await api.start({
      ...order("framewright"),
      port: options.port,
      assets,
      media: mediaOf(options),
      dns: options.dns ?? [],
      vars: {
        NATIVE_INSTANCES: "0",
        ...(native_urls.length > 0 && { NATIVE_ENCODER_URL: native_urls.join(",") }),
        ...options.vars,
      },
      secrets: {
        API_KEYS: options.api_keys ?? `${PROJECT}:${key}`,
        OPERATOR_KEY: options.operator_key ?? state.operator_key,
        MEDIA_SIGNING_KEY: state.signing_key,
        CONNECTION_KEYS: options.connection_keys ?? state.connection_key,
        NATIVE_ENCODER_TOKEN: native_token,
      },
    });
    await until(
      () => answers(`${url}/health`),
      () => errors.unhealthy({ url }),
    );
    state.announce(url);
    return {
      url,
      key,
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

async function until(check: () => boolean | Promise<boolean>, late: () => MediaError): Promise<void> {
  for (const end = Date.now() + HEALTH_MS; !(await check()); await sleep(25)) {
    if (Date.now() > end) throw late();
  }
}

function requireFreePort(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(errors.portUnusable({ port, code: error.code }));
    });
    server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
  });
}
