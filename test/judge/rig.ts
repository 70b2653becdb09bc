import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import { type FrontDoor, openFrontDoor } from "./front-door.ts";

/** A real local service of a test's own, and an origin on loopback that sources come from. */
export interface Rig {
  door: FrontDoor;
  origin: Origin;
  /** Where the service keeps its state and logs. */
  folder: string;
  /** Serves a file at the origin; gives its URL. */
  serve(path: string): string;
  close(): Promise<void>;
}

const KEY = "judge-key";

/** Starts the whole service, each Worker in processes of its own, with so many native encoders, and further settings that may depend on the origin. */
export async function startRig(
  env: (origin: Origin) => Record<string, string> = () => ({}),
  native = 1,
): Promise<Rig> {
  const folder = await mkdtemp(join(tmpdir(), "framewright-rig-"));
  const origin = await startOrigin();
  const settings = parseSettings({ PORT: "0", API_KEYS: KEY, STATE_DIR: folder, ...env(origin) });
  const service = await startService({ ...settings, native });
  const door = openFrontDoor(service.url, KEY);
  return {
    door,
    origin,
    folder,
    serve: (path) => origin.serve(`/${basename(path)}`, { file: path }),
    async close() {
      await Promise.all([service.stop(), origin.close(), door.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
