import { unstable_startWorker } from "wrangler";

/** What one host process is told to run. */
export interface HostOrder {
  /** Path of the Worker's wrangler.toml. */
  config: string;
  /** Port on 127.0.0.1; 0 for any free one. */
  port: number;
  /** Folder of the Worker's storage. */
  data: string;
  /** Folder in which the Workers of one service find each other. */
  registry: string;
  /** Builds and loads the Worker anew when its code changes. */
  watch: boolean;
  /** Variables that are no secret. */
  vars: Record<string, string>;
  secrets: Record<string, string>;
}

/** What a host process answers. */
export type HostReply = { type: "ready"; url: string } | { type: "failed"; message: string };

// This process runs one Worker, alone: a busy Worker blocks its own process only. It is started by
// service.ts as the leader of a process group, and takes its order, secrets and all, over the IPC channel.
let worker: Awaited<ReturnType<typeof unstable_startWorker>> | undefined;

process.once("message", (order: HostOrder) => {
  start(order).catch((thrown: unknown) => fail(thrown));
});
// The parent closes the channel to end this process; it also breaks when the parent dies, however it dies.
process.on("disconnect", stop);

async function start(order: HostOrder): Promise<void> {
  const { config, port, data, registry, watch } = order;
  worker = await unstable_startWorker({
    config,
    bindings: { ...bindings("plain_text", order.vars), ...bindings("secret_text", order.secrets) },
    dev: {
      server: { hostname: "127.0.0.1", port },
      persist: data,
      registry,
      watch,
      liveReload: false,
      inspector: false,
      enableContainers: false,
      remote: false,
      logLevel: "log",
    },
  });
  worker.raw.on("error", fail);
  if (!watch) worker.raw.on("buildFailed", () => fail(new Error("The Worker does not build.")));
  await worker.ready;
  reply({ type: "ready", url: (await worker.url).origin });
}

function bindings<T extends "plain_text" | "secret_text">(type: T, values: Record<string, string>) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { type, value }]));
}

function fail(thrown: unknown): void {
  console.error(thrown);
  reply({ type: "failed", message: thrown instanceof Error ? thrown.message : String(thrown) });
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
