import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { NO_LIMITS } from "../fixtures/no-limits.ts";

/** The service that all flows share: its URL, keys and folder of static files. */
export interface Served {
  url: string;
  key: string;
  /** Key of another project, used only by the console's flows. */
  console_key: string;
  assets: string;
}

/** Starts the service with its page before all flows, and stops it after them. */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "framewright-e2e-"));
  const [key, console_key] = [randomBytes(12).toString("hex"), randomBytes(12).toString("hex")];
  const settings = parseSettings({
    PORT: "0",
    API_KEYS: `page:${key},console:${console_key}`,
    STATE_DIR: folder,
    ...NO_LIMITS,
  });
  const service = await startService({ ...settings, page: true });
  const assets = join(folder, "scratch", "assets");
  process.env.SERVED = JSON.stringify({ url: service.url, key, console_key, assets } satisfies Served);
  return async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}
