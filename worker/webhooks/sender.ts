import { logFault } from "../observability/log.ts";
import { nextAttempt, type Outcome, type Posted, type Shipment } from "./delivery.ts";
import type { Due, Outbox } from "./outbox.ts";

/** Dependencies of {@link createCourier}. */
export interface CourierTools {
  outbox: Outbox;
  /** Returns the request of a delivery; null when it is no longer due. */
  ship(due: Due): Promise<Shipment | null>;
  /** Posts it once; rejects only for internal faults. */
  post(due: Due, shipment: Shipment): Promise<Posted>;
  /** Reports the result of an attempt to the project. */
  note(due: Due, outcome: Outcome): Promise<void>;
  /** Called when {@link Courier.dueAt} may have changed. */
  rearm(): Promise<void>;
  now(): number;
  random(): number;
  /** Milliseconds before the second attempt of a delivery. */
  firstMs(): number;
  /** Milliseconds after which a silent attempt counts as lost: longer than a post may take. */
  leaseMs(): number;
}

/** Sends the deliveries of one run and retries them. */
export interface Courier {
  /** Starts all due deliveries that are not in flight, without waiting; `fresh` are requests that are already loaded. */
  start(fresh?: readonly Shipment[]): void;
  /** Restarts a delivery with the next {@link Courier.start}, whatever its result so far. */
  again(id: string, project: string): void;
  /** Returns when the next delivery is due, in milliseconds since the epoch; null when none is. */
  dueAt(): number | null;
}

// One less than the connections that an object may have open, which leaves one for its other work:
// https://developers.cloudflare.com/workers/platform/limits/#simultaneous-open-connections
const MAX_IN_FLIGHT = 5;
const FAULT_MS = 2000;

/** Creates the sender of an outbox. It delivers at least once: a delivery in flight during a crash is sent again. */
export function createCourier(tools: CourierTools): Courier {
  const { outbox, ship, post, note, rearm, now } = tools;
  const inFlight = new Set<string>();
  const ready = new Map<string, Shipment>();
  // Finished deliveries, which a late repeat of their handover must not send again.
  const finished = new Set<string>();

  async function deliver(due: Due): Promise<void> {
    const { id, since } = due;
    const shipment = ready.get(id) ?? (await ship(due));
    ready.delete(id);
    if (!shipment) return outbox.drop(id);
    const { attempt, verdict } = await post(due, shipment);
    const attempts = due.attempts + 1;
    const end = attempt.at + attempt.duration;
    const next_at =
      verdict === "again" ? nextAttempt({ attempts, since }, end, tools.firstMs(), tools.random()) : null;
    if (next_at !== null) outbox.postpone(id, next_at, attempts);
    await note(due, { attempt, verdict, next_at });
    if (next_at !== null) return;
    finished.add(id);
    outbox.drop(id);
  }

  async function run(due: Due): Promise<void> {
    try {
      await deliver(due);
    } catch (thrown) {
      logFault("delivery failed", thrown, { delivery_id: due.id });
      // Keeps the time of a delivery that was already postponed.
      const current = outbox.deliveries().find(({ id }) => id === due.id);
      if (current && current.due_at <= now()) outbox.postpone(due.id, now() + FAULT_MS, current.attempts);
    } finally {
      inFlight.delete(due.id);
      start();
      await rearm();
    }
  }

  function start(fresh: readonly Shipment[] = []): void {
    for (const shipment of fresh) if (!inFlight.has(shipment.id)) ready.set(shipment.id, shipment);
    for (const due of outbox.deliveries()) {
      if (inFlight.size >= MAX_IN_FLIGHT || due.due_at > now()) break;
      if (inFlight.has(due.id)) continue;
      if (finished.has(due.id)) {
        outbox.drop(due.id);
        continue;
      }
      inFlight.add(due.id);
      void run(due);
    }
  }

  return {
    start,
    again(id, project) {
      finished.delete(id);
      outbox.again(id, project, now());
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
