import { logFault } from "../log.ts";
import { type AttemptResult, type DeliveryRequest, nextAttempt, type PostResult } from "./delivery.ts";
import type { Outbox, OutboxEntry } from "./outbox.ts";

/** Dependencies of {@link createWebhookSender}. */
export interface SenderTools {
  outbox: Outbox;
  /** Returns the request of a delivery; null when it is no longer due. */
  requestOf(entry: OutboxEntry): Promise<DeliveryRequest | null>;
  /** Posts it once; rejects only for internal faults. */
  post(entry: OutboxEntry, request: DeliveryRequest): Promise<PostResult>;
  /** Reports the result of an attempt to the project. */
  note(entry: OutboxEntry, result: AttemptResult): Promise<void>;
  /** Called when {@link WebhookSender.dueAt} may have changed. */
  rearm(): Promise<void>;
  now(): number;
  random(): number;
  /** Milliseconds before the second attempt of a delivery. */
  firstMs(): number;
  /** Milliseconds after which a silent attempt counts as lost: longer than a post may take. */
  leaseMs(): number;
}

/** Sends the deliveries of one run and retries them. */
export interface WebhookSender {
  /** Starts all due deliveries that are not in flight, without waiting; `fresh` are requests that are already loaded. */
  start(fresh?: readonly DeliveryRequest[]): void;
  /** Restarts a delivery with the next {@link WebhookSender.start}, whatever its result so far. */
  restart(id: string, project: string): void;
  /** Returns when the next delivery is due, in milliseconds since the epoch; null when none is. */
  dueAt(): number | null;
}

// An object may have six open connections; one stays free: https://developers.cloudflare.com/workers/platform/limits/#simultaneous-open-connections
const MAX_IN_FLIGHT = 5;
const FAULT_MS = 2000;

/** Creates the sender of an outbox. It delivers at least once: a delivery in flight during a crash is sent again. */
export function createWebhookSender(tools: SenderTools): WebhookSender {
  const { outbox, requestOf, post, note, rearm, now } = tools;
  const inFlight = new Set<string>();
  const ready = new Map<string, DeliveryRequest>();
  const finished = new Set<string>();

  async function deliver(entry: OutboxEntry): Promise<void> {
    const { id, since } = entry;
    const request = ready.get(id) ?? (await requestOf(entry));
    ready.delete(id);
    if (!request) return outbox.drop(id);
    const { attempt, verdict } = await post(entry, request);
    const attempts = entry.attempts + 1;
    const end = attempt.at + attempt.duration;
    const next_at =
      verdict === "again" ? nextAttempt({ attempts, since }, end, tools.firstMs(), tools.random()) : null;
    if (next_at !== null) outbox.postpone(id, next_at, attempts);
    await note(entry, { attempt, verdict, next_at });
    if (next_at !== null) return;
    finished.add(id);
    outbox.drop(id);
  }

  async function run(entry: OutboxEntry): Promise<void> {
    try {
      await deliver(entry);
    } catch (thrown) {
      logFault("delivery failed", thrown, { delivery_id: entry.id });
      const current = outbox.deliveries().find(({ id }) => id === entry.id);
      if (current && current.due_at <= now()) outbox.postpone(entry.id, now() + FAULT_MS, current.attempts);
    } finally {
      inFlight.delete(entry.id);
      start();
      await rearm();
    }
  }

  function start(fresh: readonly DeliveryRequest[] = []): void {
    for (const request of fresh) if (!inFlight.has(request.id)) ready.set(request.id, request);
    for (const entry of outbox.deliveries()) {
      if (inFlight.size >= MAX_IN_FLIGHT || entry.due_at > now()) break;
      if (inFlight.has(entry.id)) continue;
      if (finished.has(entry.id)) {
        outbox.drop(entry.id);
        continue;
      }
      inFlight.add(entry.id);
      void run(entry);
    }
  }

  return {
    start,
    restart(id, project) {
      finished.delete(id);
      outbox.restart(id, project, now());
    },
    dueAt() {
      const full = inFlight.size >= MAX_IN_FLIGHT;
      const times = outbox
        .deliveries()
        .filter(({ id }) => !full || inFlight.has(id))
        .map(({ id, due_at }) => (inFlight.has(id) ? now() + tools.leaseMs() : due_at));
      return times.length > 0 ? Math.min(...times) : null;
    },
  };
}
