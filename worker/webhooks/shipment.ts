import type { DeliveryAttempt, EventKind } from "../../src/runs/webhook-events.ts";
import type { Posted } from "./post-event.ts";

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
