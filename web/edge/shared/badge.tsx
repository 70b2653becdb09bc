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

export type BadgeState = keyof typeof STATES;

/** Returns the word for a state, the same throughout the page. */
export function wordOf(state: BadgeState): string {
  return STATES[state][0];
}

/** Shows the state of a record; `word` overrides its text. */
export function Badge({ state, word }: { state: BadgeState; word?: string }) {
  return <span class={`badge ${STATES[state][1]}`}>{word ?? wordOf(state)}</span>;
}
