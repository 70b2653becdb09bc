import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startService } from "../../worker/local/service.ts";
import { parseSettings } from "../../worker/local/settings.ts";
import { clip } from "../fixtures/clips.ts";
import { NO_LIMITS } from "../fixtures/no-limits.ts";
import { type Origin, startOrigin } from "../fixtures/origin.ts";
import type { ClientCase } from "./contract.ts";
import { dubbedClip } from "./kinds/dubbed-clip.ts";

/** A real local service, and an origin on loopback that serves the inputs of the contract. */
export interface ClientRig {
  url: string;
  key: string;
  origin: Origin;
  inputs: ClientCase["inputs"];
  close(): Promise<void>;
}

/** Starts the service with so many native encoders, which alone decode its dubbed video where there are any. */
export async function startClientRig({ native = 0 } = {}): Promise<ClientRig> {
  const folder = await mkdtemp(join(tmpdir(), "framewright-client-"));
  const origin = await startOrigin();
  const key = "key-of-the-client";
  const settings = parseSettings({ PORT: "0", API_KEYS: key, STATE_DIR: folder, ...NO_LIMITS });
  const service = await startService({ ...settings, native });
  // Lets pages of any origin read the inputs.
  const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };
  const text = new TextEncoder().encode("This is no video at all.\n".repeat(400));
  return {
    ...{ url: service.url, key, origin },
    inputs: {
      video: origin.serve("/clip.mp4", { file: await clip("mp4"), mime: "video/mp4", headers }),
      dubbed: origin.serve("/dubbed.mp4", {
        ...{ file: await dubbedClip(native > 0 ? "av1" : "h264"), mime: "video/mp4", headers },
      }),
      text: origin.serve("/text.mp4", { file: text, mime: "video/mp4", headers }),
      missing: origin.serve("/missing.mp4", { status: 404, headers }),
      silent: origin.serve("/silent.mp4", { silent: true }),
    },
    async close() {
      await Promise.all([service.stop(), origin.close()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
