import { once } from "node:events";
import { unstable_DevEnv } from "wrangler";
import { diskBinding, outsideBindings } from "./host-bindings.ts";

/** The order to a host process: the Worker to run, and its configuration. */
export interface HostOrder {
  /** Path of the Worker's wrangler.toml. */
  config: string;
  /** Port on 127.0.0.1; 0 for any free one. */
  port: number;
  /** Folder of the Worker's storage. */
  data: string;
  /** Folder of its media; null for a Worker without media. */
  media: string | null;
  /** Folder through which the Workers of one service find each other. */
  registry: string;
  /** Folder of its static files; null for none. */
  assets: string | null;
  /** Rebuilds and reloads the Worker when its code changes. */
  watch: boolean;
  /**
   * Name servers, `address:port`, that resolve callers' hosts; an empty list for the system's resolver, null for a
   * Worker that contacts no such hosts.
   */
  dns: readonly string[] | null;
  /** Variables that are not secret. */
  vars: Record<string, string>;
  secrets: Record<string, string>;
}

/** A host process's reply to its order. */
export type HostReply = { type: "ready"; url: string } | { type: "failed"; message: string };

// Each Worker runs in its own process, so that a busy one blocks only itself.
const environment = new unstable_DevEnv();
let worker: Awaited<ReturnType<typeof environment.startWorker>> | undefined;
let loaded = false;

process.once("message", (order: HostOrder) => {
  start(order).catch((thrown: unknown) => fail(thrown));
});
// The parent closes the channel to end this process; the channel also closes when the parent dies, even by SIGKILL.
process.on("disconnect", stop);
environment.on("error", fail);
environment.on("buildFailed", ({ cause }) => loaded || fail(cause));

async function start(order: HostOrder): Promise<void> {
  const { config, port, data, media, registry, assets, watch, dns } = order;
  // A Worker can be ready before its build is loaded.
  const load = once(environment, "reloadComplete");
  worker = await environment.startWorker({
    config,
    ...(assets && { assets }),
    bindings: {
      ...bindings("plain_text", order.vars),
      ...bindings("secret_text", order.secrets),
      ...(dns && outsideBindings(dns.length > 0 ? dns : null)),
      ...(media && diskBinding(media)),
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
      // Lower levels log the path of every request, signatures included.
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
  // Wrangler's own processes share this group: if wrangler hangs, kill the whole group.
  setTimeout(() => process.kill(-process.pid, "SIGKILL"), 1500);
  const end = () => process.exit(0);
  if (worker) worker.dispose().then(end, end);
  else setTimeout(end, 50);
}
