import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { NO_LIMITS } from "../fixtures/no-limits.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { type Loan, SERVICE_POOL } from "../fixtures/service-pool.ts";
import { type FrontDoor, openFrontDoor } from "./front-door.ts";

/** A real local service for one test file until it is closed, and an origin on loopback that serves the sources. */
export interface Rig {
  door: FrontDoor;
  url: string;
  key: string;
  origin: Origin;
  /** The service's state and logs. */
  folder: string;
  /** Serves a file at the origin and returns its URL. */
  serve(path: string): string;
  close(): Promise<void>;
}

interface Own extends Loan {
  end(): Promise<void>;
}

const KEY = "judge-key";

/** Borrows a service with one native encoder and default settings; it may be reused, but with a fresh project. */
export function openRig(): Promise<Rig> {
  return makeRig(borrow);
}

/** Starts a separate service, each Worker in its own processes; `env` may depend on the origin. */
export function startRig(env: (origin: Origin) => Record<string, string>, native = 1): Promise<Rig> {
  return makeRig((origin) => start(env(origin), native));
}

async function makeRig(open: (origin: Origin) => Promise<Own>): Promise<Rig> {
  const origin = await startOrigin();
  const { url, key, folder, end } = await open(origin);
  const door = openFrontDoor(url, key);
  return {
    door,
    url,
    key,
    origin,
    folder,
    serve: (path) => origin.serve(`/${basename(path)}`, { file: path }),
    async close() {
      await Promise.all([end(), origin.close(), door.close()]);
    },
  };
}

async function start(env: Record<string, string>, native: number): Promise<Own> {
  const folder = await mkdtemp(join(tmpdir(), "framewright-rig-"));
  const settings = parseSettings({ PORT: "0", API_KEYS: KEY, STATE_DIR: folder, ...NO_LIMITS, ...env });
  const service = await startService({ ...settings, native });
  return {
    ...{ url: service.url, key: KEY, folder },
    async end() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// The loan lasts until the response closes, so that a crashed test file returns its service. Unlike `fetch`, `get` never times
// out.
async function borrow(): Promise<Own> {
  const request = get(process.env[SERVICE_POOL] ?? "");
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let line = "";
  while (!line.endsWith("\n")) line += (await once(response, "data"))[0];
  if (response.statusCode !== 200) throw new Error(`no service to borrow: ${line}`);
  // Ending the loan destroys the response.
  response.on("error", () => {});
  return { ...(JSON.parse(line) as Loan), end: async () => void request.destroy() };
}
