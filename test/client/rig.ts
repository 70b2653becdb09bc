import { clip } from "../fixtures/clips.ts";
import type { Origin } from "../fixtures/origin.ts";
import { openRig, startRig } from "../judge/rig.ts";
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

/** Borrows a service with a native encoder, the only one that decodes the dubbed video, or starts a service without one. */
export async function startClientRig({ native = false } = {}): Promise<ClientRig> {
  const { url, key, origin, close } = await (native ? openRig() : startRig(() => ({}), 0));
  // Lets pages of any origin read the inputs.
  const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "*" };
  const text = new TextEncoder().encode("This is no video at all.\n".repeat(400));
  return {
    ...{ url, key, origin },
    inputs: {
      video: origin.serve("/clip.mp4", { file: await clip("mp4"), mime: "video/mp4", headers }),
      dubbed: origin.serve("/dubbed.mp4", {
        ...{ file: await dubbedClip(native ? "av1" : "h264"), mime: "video/mp4", headers },
      }),
      text: origin.serve("/text.mp4", { file: text, mime: "video/mp4", headers }),
      missing: origin.serve("/missing.mp4", { status: 404, headers }),
      silent: origin.serve("/silent.mp4", { silent: true }),
    },
    close,
  };
}
