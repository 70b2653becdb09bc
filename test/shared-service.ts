import { inject } from "vitest";

/** The keys of the shared service: of two projects. */
export const SHARED_KEYS = ["test:test-key", "other:other-key"] as const;

/** Gives the base URL of the one local service that all test files share, both Workers in processes of their own; it starts at the first call. */
export async function sharedService(): Promise<string> {
  const response = await fetch(inject("shared_service"));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
