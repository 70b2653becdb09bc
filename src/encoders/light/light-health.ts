import { sleep } from "../../util/async.ts";
import type { LightHealth } from "./light-wire.ts";

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

// Between questions whether a lost encoder is back.
const PAUSE_MS = { first: 250, most: 4000 };
// An encoder at work answers once the work is done.
const ANSWER_MS = 10_000;

/** Asks the light encoder how it is; null without an answer in ten seconds. Never rejects. */
export async function askHealth(fetch: Fetch, signal?: AbortSignal): Promise<Partial<LightHealth> | null> {
  const limit = AbortSignal.timeout(ANSWER_MS);
  try {
    const init = { method: "GET", signal: signal ? AbortSignal.any([signal, limit]) : limit };
    return (await (await fetch("http://framewright-encoder/health", init)).json()) as Partial<LightHealth>;
  } catch {
    return null;
  }
}

/** Waits until the light encoder answers, for at most `ms` milliseconds; rejects with the signal's reason when that aborts. */
export async function awaitHealth(
  fetch: Fetch,
  ms: number,
  { signal, onWait }: { signal: AbortSignal; onWait: () => void },
): Promise<void> {
  const end = Date.now() + ms;
  for (let pause = PAUSE_MS.first; Date.now() < end; pause = Math.min(2 * pause, PAUSE_MS.most)) {
    const answer = await askHealth(fetch, signal);
    if (answer?.status === "ok") return;
    onWait();
    await sleep(Math.min(pause, Math.max(0, end - Date.now())), signal);
  }
}
