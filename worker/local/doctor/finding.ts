/** What one check of a deployment found. */
export interface Finding {
  /** What was looked at, such as `R2 bucket`. */
  what: string;
  /** `unknown` where it cannot be seen from here; only `missing` makes the doctor fail. */
  state: "ok" | "missing" | "unknown";
  /** What was found, and what to do where it is missing. */
  words: string;
}

const MARKS = { ok: "ok     ", missing: "MISSING", unknown: "unknown" } as const;

/** Renders a finding as a line. */
export function lineOf({ what, state, words }: Finding): string {
  return `${MARKS[state]}  ${what}: ${words}`;
}
