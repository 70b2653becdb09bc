import { type NativeServer, startServer } from "./server.ts";
import { parseSettings } from "./settings.ts";

// The native encoder as a program. Once it listens, it prints a line of JSON, `{"url": …}`, and sends { type: "ready", url } or
// { type: "failed", message } to a parent that forked it. The parent ends it by closing the channel, which also happens when the parent
// dies. SIGTERM finishes running jobs or hands them back; a second SIGTERM, or SIGINT, ends them at once.
const starting = startServer(parseOrFail());
let terms = 0;

process.on("SIGTERM", () => exitAfter((server) => (++terms > 1 ? server.end() : server.finish())));
process.on("SIGINT", () => exitAfter((server) => server.end()));
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
