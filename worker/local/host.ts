import { once } from "node:events";
import { unstable_DevEnv } from "wrangler";
import { outsideBindings } from "./outside-bindings.ts";

/** What one host process runs. */
export interface HostOrder {
  /** Path of the Worker's wrangler.toml. */
  config: string;
  /** Port on 127.0.0.1; 0 for any free one. */
  port: number;
  /** Folder of the Worker's storage. */
  data: string;
  /** Folder in which the Workers of one service find each other. */
  registry: string;
  /** Folder of its static files, where the configuration has some. */
  assets: string | null;
  /** Builds and loads the Worker anew when its code changes. */
  watch: boolean;
  /** Name servers, `address:port`, that hosts of callers are looked up at, none for the system's own; null for a Worker that asks no such hosts. */
  dns: readonly string[] | null;
  /** Variables that are no secret. */
  vars: Record<string, string>;
  secrets: Record<string, string>;
}

/** What a host process answers. */
export type HostReply = { type: "ready"; url: string } | { type: "failed"; message: string };

// This process runs one Worker, alone: a busy Worker blocks its own process only. It is started by
// service.ts as the leader of a process group, and takes its order, secrets and all, over the IPC channel.
const environment = new unstable_DevEnv();
let worker: Awaited<ReturnType<typeof environment.startWorker>> | undefined;
let loaded = false;

process.once("message", (order: HostOrder) => {
  start(order).catch((thrown: unknown) => fail(thrown));
});
// The parent closes the channel to end this process; it also breaks when the parent dies, however it dies.
process.on("disconnect", stop);
environment.on("error", fail);
// With a first build that works, a later one that does not is a matter for the log.
environment.on("buildFailed", ({ cause }) => loaded || fail(cause));

async function start(order: HostOrder): Promise<void> {
  const { config, port, data, registry, assets, watch, dns } = order;
  // Not the same as ready, which the Worker's build may still follow.
  const load = once(environment, "reloadComplete");
  worker = await environment.startWorker({
    config,
    ...(assets && { assets }),
    bindings: {
      ...bindings("plain_text", order.vars),
      ...bindings("secret_text", order.secrets),
      ...(dns && outsideBindings(dns.length > 0 ? dns : null)),
    },
    dev: {
      server: { hostname: "127.0.0.1", port },
      persist: data,
      registry,
      watch,
      liveReload: false,
      inspector: false,
      enableContainers: false,
      remote: false,
      // It would write the path of every request down, signatures and all.
      logLevel: "warn",
      structuredLogsHandler: ({ level, message }: { level: string; message: string }) =>
        void (level === "error" ? process.stderr : process.stdout).write(`${message}\n`),
    },
  });
  await Promise.all([worker.ready, load]);
  loaded = true;
  reply({ type: "ready", url: (await worker.url).origin });
}

function bindings<T extends "plain_text" | "secret_text">(type: T, values: Record<string, string>) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { type, value }]));
}

function fail(thrown: unknown): void {
  console.error(thrown);
  // Of a build, the first fault that esbuild found.
  const [first] = (thrown as { errors?: { text: string }[] }).errors ?? [];
  reply({
    type: "failed",
    message: first?.text ?? (thrown instanceof Error ? thrown.message : String(thrown)),
  });
  stop();
}

function reply(message: HostReply): void {
  if (process.connected) process.send?.(message);
}

function stop(): void {
  // What wrangler started shares this process group: should wrangler hang, all of it goes.
  setTimeout(() => process.kill(-process.pid, "SIGKILL"), 1500);
  const end = () => process.exit(0);
  if (worker) worker.dispose().then(end, end);
  else setTimeout(end, 50);
}
