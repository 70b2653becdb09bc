import { Webhook } from "standardwebhooks";
import { MediaError } from "../../src/media/errors.ts";
import type { DeliveryAttempt, EventKind } from "../../src/runs/webhook-events.ts";
import { deliveryErrors } from "../errors.ts";

/** A change of a run that becomes an event. */
export interface Change {
  /** The version of the record. Together with the run's id it identifies the event, however often it is handed over. */
  version: number;
  kind: EventKind;
  at: number;
  /** The record at that version, as JSON. */
  record: string;
}

/** The changes of one run that its project turns into events. */
export interface ChangeSet {
  run_id: string;
  changes: readonly Change[];
  /** The run's own webhook URL; null for none. */
  webhook_url: string | null;
}

/** The request of a due delivery, with its secrets still sealed. */
export interface DeliveryRequest {
  /** Id of the delivery. */
  id: string;
  event_id: string;
  url: string;
  /** The event as JSON. */
  body: string;
  /** Owner of the secrets that sign it: the id of an endpoint, or {@link PROJECT_OWNER}. */
  owner: string;
  /** The valid secrets, sealed, newest first. */
  sealed: readonly string[];
}

/** The result of an attempt. */
export interface AttemptResult {
  attempt: DeliveryAttempt;
  verdict: PostResult["verdict"];
  /** Time at which the next attempt is due, in milliseconds since the epoch; null for none. */
  next_at: number | null;
}

/** Owner of the secret that signs deliveries to the `webhook_url` of tasks and steps. */
export const PROJECT_OWNER = "webhook_url";

/** An event to post to a URL. */
export interface WebhookMessage {
  url: string;
  event_id: string;
  /** The event as JSON, with the same bytes in each attempt. */
  body: string;
  /** The valid secrets, newest first, each of which adds a signature. Must never be logged, stored or returned. */
  secrets: readonly string[];
}

/** The result of posting: `again` to retry, `gone` when the receiver answered 410, `refused` for a forbidden host. */
export interface PostResult {
  attempt: DeliveryAttempt;
  verdict: "delivered" | "again" | "gone" | "refused";
}

/** Dependencies of {@link postEvent}. */
export interface PostTools {
  /** Must check the host and not follow redirects. */
  fetch(url: string, init: RequestInit): Promise<Response>;
  now(): number;
  /** Time limit for the whole response. */
  timeout_ms: number;
}

const MAX_DRAIN_BYTES = 4096;

/** Posts an event once, signed by https://www.standardwebhooks.com; a status of 200 to 299 counts as delivered. Never rejects. */
export async function postEvent(
  message: WebhookMessage,
  { fetch, now, timeout_ms }: PostTools,
): Promise<PostResult> {
  const at = now();
  const tell = (
    verdict: PostResult["verdict"],
    response_status: number | null,
    error: string | null,
  ): PostResult => ({
    attempt: { at, duration: now() - at, response_status, error },
    verdict,
  });
  const signal = AbortSignal.timeout(timeout_ms);
  try {
    const init = { method: "POST", headers: headersOf(message, at), body: message.body, signal };
    const response = await fetch(message.url, { ...init, redirect: "manual" });
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

function headersOf({ event_id, body, secrets }: WebhookMessage, at: number): Record<string, string> {
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
    while (read <= MAX_DRAIN_BYTES) {
      const { done, value } = await reader.read();
      if (done) return;
      read += value.length;
    }
    await reader.cancel();
  } catch {
    // The status alone decides the verdict.
  }
}

/** Milliseconds after which an undelivered event is abandoned: three days. */
export const GIVE_UP_MS = 3 * 86_400_000;

const GROWTH = 4;
const MAX_DELAY_MS = 12 * 3_600_000;
const JITTER = 0.2;

/**
 * Returns when to try again after a number of attempts, in milliseconds since the epoch; null after the last. The delay starts at
 * `first_ms` and quadruples up to 12 hours, varied by up to a fifth with `random` (0 to 1); the last attempt comes three days after
 * `since`.
 */
export function nextAttempt(
  { attempts, since }: { attempts: number; since: number },
  now: number,
  first_ms: number,
  random: number,
): number | null {
  const end = since + GIVE_UP_MS;
  if (now >= end) return null;
  const delay = Math.min(first_ms * GROWTH ** (attempts - 1), MAX_DELAY_MS);
  return Math.min(end, Math.round(now + delay * (1 - JITTER + 2 * JITTER * random)));
}
