const STATES = {
  queued: ["Waiting for its turn", "plain"],
  waiting: ["Waiting", "plain"],
  processing: ["Converting", "busy"],
  succeeded: ["Done", "good"],
  failed: ["Failed", "bad"],
  cancelled: ["Cancelled", "plain"],
  pending: ["Trying", "busy"],
  delivered: ["Delivered", "good"],
  given_up: ["Gave up", "bad"],
  active: ["Active", "good"],
  disabled: ["Paused", "plain"],
} as const;

/** How a record of a service stands, in one word and a color. */
export type BadgeState = keyof typeof STATES;

/** Says how a record stands, as the page says it everywhere. */
export function wordOf(state: BadgeState): string {
  return STATES[state][0];
}

/** A mark that says how a record stands; `word` says it otherwise. */
export function Badge({ state, word }: { state: BadgeState; word?: string }) {
  return <span class={`badge ${STATES[state][1]}`}>{word ?? wordOf(state)}</span>;
}
