import { errors } from "../errors.ts";
import type { ServiceSettings } from "../settings/schema.ts";
import { createSeal, type Seal } from "./seal.ts";

interface Deployment {
  settings: Pick<ServiceSettings, "CONNECTION_KEYS">;
}

/** Builds the seal of a deployment; without CONNECTION_KEYS each use rejects with `service_unavailable`. */
export function createSealOf({ settings: { CONNECTION_KEYS } }: Deployment): Seal {
  if (CONNECTION_KEYS) return createSeal(CONNECTION_KEYS);
  const refuse = async (): Promise<never> => {
    throw errors.connectionKeysMissing();
  };
  return { seal: refuse, open: refuse, isCurrent: refuse };
}
