import { logFault } from "../observability/log.ts";
import { nextAttempt, type Outcome, type Posted, type Shipment } from "./delivery.ts";
import type { Due, Outbox } from "./outbox.ts";

/** What a courier works with. */
export interface CourierTools {
  outbox: Outbox;
  /** Returns a delivery with all that it needs; null when it is no longer due. */
  ship(due: Due): Promise<Shipment | null>;
  /** Posts it once; rejects only for faults of this side. */
  post(due: Due, shipment: Shipment): Promise<Posted>;
  /** Reports the result of an attempt to the project. */
  note(due: Due, outcome: Outcome): Promise<void>;
  /** Is called when something is due at another time than before. */
  rearm(): Promise<void>;
  now(): number;
  random(): number;
  /** Milliseconds until a delivery is tried for the second time. */
  firstMs(): number;
  /** Milliseconds after which a silent attempt counts as lost: longer than a post may take. */
  leaseMs(): number;
}

/** Makes the deliveries of one run, as many times as it takes. */
export interface Courier {
  /** Starts everything due that is not on its way, without waiting; `fresh` are those that are already loaded. */
  start(fresh?: readonly Shipment[]): void;
  /** Has a delivery made from the beginning, whatever came of it before, with the next start. */
  again(id: string, project: string): void;
  /** Returns when the next delivery is due, in milliseconds since the epoch; null when none is. */
  dueAt(): number | null;
}

// As many connections as one object may wait on, less one for the rest of its work:
// https://developers.cloudflare.com/workers/platform/limits/#simultaneous-open-connections
const MOST_AT_ONCE = 5;
const FAULT_MS = 2000;

/** Builds a courier over an outbox. A delivery that is on its way when the machine dies is made again: at least once, not at most. */
export function createCourier(tools: CourierTools): Courier {
  const { outbox, ship, post, note, rearm, now } = tools;
  const going = new Set<string>();
  const ready = new Map<string, Shipment>();
  // What was just made must not be made again for a copy of the order that comes late.
  const made = new Set<string>();

  async function deliver(due: Due): Promise<void> {
    const { id, since } = due;
    const shipment = ready.get(id) ?? (await ship(due));
    ready.delete(id);
    if (!shipment) return outbox.drop(id);
    const { attempt, verdict } = await post(due, shipment);
    const attempts = due.attempts + 1;
    const end = attempt.at + attempt.duration;
    const again = verdict === "again";
    const next_at = again ? nextAttempt({ attempts, since }, end, tools.firstMs(), tools.random()) : null;
    if (next_at !== null) outbox.postpone(id, next_at, attempts);
    await note(due, { attempt, verdict, next_at });
    if (next_at !== null) return;
    made.add(id);
    outbox.drop(id);
  }

  async function run(due: Due): Promise<void> {
    try {
      await deliver(due);
    } catch (thrown) {
      logFault("delivery failed", thrown, { delivery_id: due.id });
      // What has its next time already keeps it.
      const left = outbox.deliveries().find(({ id }) => id === due.id);
      if (left && left.due_at <= now()) outbox.postpone(due.id, now() + FAULT_MS, left.attempts);
    } finally {
      going.delete(due.id);
      start();
      await rearm();
    }
  }

  function start(fresh: readonly Shipment[] = []): void {
    for (const shipment of fresh) if (!going.has(shipment.id)) ready.set(shipment.id, shipment);
    for (const due of outbox.deliveries()) {
      if (going.size >= MOST_AT_ONCE || due.due_at > now()) break;
      if (going.has(due.id)) continue;
      if (made.has(due.id)) {
        outbox.drop(due.id);
        continue;
      }
      going.add(due.id);
      void run(due);
    }
  }

  return {
    start,
    again(id, project) {
      made.delete(id);
      outbox.again(id, project, now());
    },
    dueAt() {
      const full = going.size >= MOST_AT_ONCE;
      const times = outbox
        .deliveries()
        .filter(({ id }) => !full || going.has(id))
        .map(({ id, due_at }) => (going.has(id) ? now() + tools.leaseMs() : due_at));
      return times.length > 0 ? Math.min(...times) : null;
    },
  };
}
