import type { Seal } from "./seal.ts";

/** Unseals a run's encryption key; null when the service no longer has the key that sealed it. */
export function openKey(seal: Seal, sealed: string, run_id: string): Promise<string | null> {
  return seal.open(sealed, run_id).catch(() => null);
}
