import { Webhook } from "standardwebhooks";
import { MediaError } from "../../src/media/errors.ts";
import type { DeliveryAttempt, EventKind } from "../../src/runs/webhook-events.ts";
import { deliveryErrors } from "../errors.ts";

/** A change of a run that events are made of. */
export interface Change {
  /** The version of the record: with the run's id it names the event, however often it is handed over. */
  version: number;
  kind: EventKind;
  at: number;
  /** The record as it was then, as JSON. */
  record: string;
}

/** The changes of one run that its project is to make events of. */
export interface ChangeSet {
  run_id: string;
  changes: readonly Change[];
  /** The URL that was given with the run. */
  webhook_url: string | null;
}

/** A delivery that is due. */
export interface Shipment {
  /** Id of the delivery. */
  id: string;
  event_id: string;
  url: string;
  /** The event as JSON. */
  body: string;
  /** Whose secrets sign it: the id of an endpoint, or {@link PROJECT_OWNER}. */
  owner: string;
  /** The secrets that are good now, sealed, the newest first. */
  sealed: readonly string[];
}

/** What came of a try, and when the next one is; null where there is none. */
export interface Outcome {
  attempt: DeliveryAttempt;
  verdict: Posted["verdict"];
  next_at: number | null;
}

/** Owner of the secret that signs what goes to the `webhook_url` of tasks and steps. */
export const PROJECT_OWNER = "webhook_url";

/** What is posted, and where to. */
export interface Parcel {
  url: string;
  event_id: string;
  /** The event as JSON: the same bytes each time. */
  body: string;
  /** Those that are good now, the newest first; each makes a signature. Never to be logged, stored or answered. */
  secrets: readonly string[];
}

/** What came of a try: `gone` for a receiver that wants no more, `refused` for a host that may not be contacted. */
export interface Posted {
  attempt: DeliveryAttempt;
  verdict: "delivered" | "again" | "gone" | "refused";
}

/** What posting is done with. */
export interface PostTools {
  /** Checks the host, and follows no redirect. */
  fetch(url: string, init: RequestInit): Promise<Response>;
  now(): number;
  /** Until the answer is there. */
  timeout_ms: number;
}

// What is read of an answer, so that the connection can be used again.
const MOST_READ = 4096;

/** Posts an event once, signed by https://www.standardwebhooks.com; a status of 200 to 299 counts as taken. Never rejects. */
export async function postEvent(parcel: Parcel, { fetch, now, timeout_ms }: PostTools): Promise<Posted> {
  const at = now();
  const tell = (
    verdict: Posted["verdict"],
    response_status: number | null,
    error: string | null,
  ): Posted => ({
    attempt: { at, duration: now() - at, response_status, error },
    verdict,
  });
  const signal = AbortSignal.timeout(timeout_ms);
  try {
    const init = { method: "POST", headers: headersOf(parcel, at), body: parcel.body, signal };
    const response = await fetch(parcel.url, { ...init, redirect: "manual" });
    const { status, ok } = response;
    await drop(response.body);
    if (ok) return tell("delivered", status, null);
    return tell(status === 410 ? "gone" : "again", status, deliveryErrors.answered({ status }));
  } catch (thrown) {
    if (thrown instanceof MediaError && thrown.kind === "input_forbidden")
      return tell("refused", null, thrown.message);
    const error = signal.aborted
      ? deliveryErrors.timeout({ seconds: timeout_ms / 1000 })
      : deliveryErrors.unreachable();
    return tell("again", null, error);
  }
}

function headersOf({ event_id, body, secrets }: Parcel, at: number): Record<string, string> {
  const time = new Date(at);
  return {
    "Content-Type": "application/json",
    "User-Agent": "Framewright",
    "webhook-id": event_id,
    "webhook-timestamp": String(Math.floor(at / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(event_id, time, body)).join(" "),
  };
}

async function drop(body: ReadableStream<Uint8Array> | null): Promise<void> {
  if (!body) return;
  const reader = body.getReader();
  let read = 0;
  try {
    while (read <= MOST_READ) {
      const { done, value } = await reader.read();
      if (done) return;
      read += value.length;
    }
    await reader.cancel();
  } catch {
    // The status has come, and that is what counts.
  }
}

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
