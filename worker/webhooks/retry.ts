/** Milliseconds after which an undelivered event is abandoned: three days. */
export const GIVE_UP_MS = 3 * 86_400_000;

const GROWTH = 4;
const LONGEST_MS = 12 * 3_600_000;
// Receivers that were down together are not to be asked together again.
const JITTER = 0.2;

/**
 * Returns when to try again after a number of attempts, in milliseconds since the epoch: `first_ms` later, then four times as
 * long each time up to twelve hours, each a fifth more or less by `random` (0 to 1), and once more when three days are over. Null
 * when that was the last.
 */
export function nextAttempt(
  { attempts, since }: { attempts: number; since: number },
  now: number,
  first_ms: number,
  random: number,
): number | null {
  const end = since + GIVE_UP_MS;
  if (now >= end) return null;
  const delay = Math.min(first_ms * GROWTH ** (attempts - 1), LONGEST_MS);
  return Math.min(end, Math.round(now + delay * (1 - JITTER + 2 * JITTER * random)));
}
