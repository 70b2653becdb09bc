import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { inject } from "vitest";
import { startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { NO_LIMITS } from "../fixtures/no-limits.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import type { Lent } from "../fixtures/service-pool.ts";
import { type FrontDoor, openFrontDoor } from "./front-door.ts";

/** A real local service, for as long as it is not closed a test file's own, and an origin on loopback that sources come from. */
export interface Rig {
  door: FrontDoor;
  /** The service's base URL, and a key of it. */
  url: string;
  key: string;
  origin: Origin;
  /** Where the service keeps its state and logs. */
  folder: string;
  /** Serves a file at the origin; gives its URL. */
  serve(path: string): string;
  close(): Promise<void>;
}

interface Own extends Lent {
  end(): Promise<void>;
}

const KEY = "judge-key";

/** Opens a service as anybody starts it, with one native encoder: one that an earlier test file had, with a project that nobody had. */
export function openRig(): Promise<Rig> {
  return makeRig(borrow);
}

/** Starts the whole service, each Worker in processes of its own, with so many native encoders, and further settings that may depend on the origin. */
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

// The loan lasts as long as the answer: a file that dies gives back what it had. Unlike `fetch`, this waits for ever.
async function borrow(): Promise<Own> {
  const request = get(inject("service_pool"));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let line = "";
  while (!line.endsWith("\n")) line += (await once(response, "data"))[0];
  if (response.statusCode !== 200) throw new Error(`No service is lent: ${line}`);
  // It is broken off when the loan ends.
  response.on("error", () => {});
  return { ...(JSON.parse(line) as Lent), end: async () => void request.destroy() };
}
