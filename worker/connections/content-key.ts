import type { Seal } from "./seal.ts";

/** Opens the sealed key of a run's encryption; null when the service's key that sealed it is gone. */
export function openKey(seal: Seal, sealed: string, run_id: string): Promise<string | null> {
  return seal.open(sealed, run_id).catch(() => null);
}
