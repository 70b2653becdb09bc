import { type NativeServer, startServer } from "./server.ts";
import { parseSettings } from "./settings.ts";

const starting = startServer(parseOrFail());
let terms = 0;

process.on("SIGTERM", () => exitAfter((server) => (++terms > 1 ? server.end() : server.finish())));
process.on("SIGINT", () => exitAfter((server) => server.end()));
// The parent ends this program by closing the channel, which also closes when the parent dies.
process.on("disconnect", () => exitAfter((server) => server.end()));

starting.then(({ url }) => {
  console.log(JSON.stringify({ url }));
  if (process.connected) process.send?.({ type: "ready", url });
}, fail);

function parseOrFail() {
  try {
    return parseSettings(process.env);
  } catch (thrown) {
    return fail(thrown);
  }
}

function exitAfter(work: (server: NativeServer) => Promise<void>): void {
  starting.then(work).then(
    () => process.exit(0),
    (thrown: unknown) => fail(thrown),
  );
}

function fail(thrown: unknown): never {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  console.error(`error: ${message}`);
  if (process.connected) process.send?.({ type: "failed", message });
  process.exit(1);
}
