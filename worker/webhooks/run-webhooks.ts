import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { eventKindOf, type WebhookDelivery } from "../../src/runs/webhook-events.ts";
import { createSealOf } from "../connections/seal.ts";
import { createOutsideOf, type Env, readEnv } from "../env.ts";
import { deliveryErrors } from "../errors.ts";
import { patiently } from "../network/durable-objects.ts";
import { serviceSettings } from "../settings.ts";
import { type ChangeSet, type DeliveryRequest, type PostResult, postEvent } from "./delivery.ts";
import { createOutbox, createWebhookSender, type WebhookSender } from "./outbox.ts";
import { openSecret, ownerOf } from "./webhooks.ts";

const LEASE_MARGIN_MS = 5000;

/** The webhooks of one run: records its changes as events, hands them to the project and sends the deliveries. */
export interface RunWebhooks extends Pick<WebhookSender, "start" | "dueAt"> {
  /** Stores the run's own webhook URL. */
  setUrl(url: string): void;
  url(): string | null;
  /** Stores the event of a change, if it causes one. Call it in the transaction that stores the record; `before` is null for a new run. */
  note(record: Task | Step, before: Task | Step | null, version: number): void;
  /** Returns the changes to hand over to the project. */
  changes(run_id: string): ChangeSet;
  /** Marks the changes up to a version as handed over, and starts their deliveries. */
  handedOver(version: number, project: string, requests: readonly DeliveryRequest[]): void;
  /** Removes the changes handed over. */
  forget(): void;
  /** Removes all changes and deliveries. */
  discard(): void;
  /** Whether nothing is left to hand over or deliver. */
  isEmpty(): boolean;
  /** Records that the object's storage was deleted. */
  cleared(): void;
  /** Repeats a delivery, or returns what is missing for it. */
  replay(project: string, id: string): Promise<WebhookDelivery | "delivery" | "endpoint" | "disabled">;
}

/** Creates the webhooks of a run in the database of its object; `rearm` sets the object's alarm to what is due next. */
export function createRunWebhooks(
  sql: SqlStorage,
  bindings: Bindings,
  rearm: () => Promise<void>,
): RunWebhooks {
  const outbox = createOutbox(sql);
  const now = () => Date.now();
  const project = (name: string) => bindings.PROJECT.getByName(name);
  const times = () => {
    const { WEBHOOK_TIMEOUT_SECONDS, WEBHOOK_RETRY_SECONDS } = serviceSettings(bindings);
    return { timeout_ms: WEBHOOK_TIMEOUT_SECONDS * 1000, first_ms: WEBHOOK_RETRY_SECONDS * 1000 };
  };
  const sender = createWebhookSender({
    outbox,
    rearm,
    now,
    random: Math.random,
    firstMs: () => times().first_ms,
    leaseMs: () => times().timeout_ms + LEASE_MARGIN_MS,
    requestOf: (entry) => patiently(() => project(entry.project).mail.ship(entry.id)),
    note: (entry, result) => patiently(() => project(entry.project).mail.note(entry.id, result)),
    post: (entry, request) => post(readEnv(bindings), entry.project, request, times().timeout_ms),
  });
  return {
    start: sender.start,
    dueAt: sender.dueAt,
    setUrl: outbox.setUrl,
    url: outbox.url,
    forget: outbox.forget,
    discard: outbox.discard,
    cleared: outbox.cleared,
    isEmpty: () => outbox.deliveries().length === 0 && outbox.changes().length === 0,
    note(record, before, version) {
      const kind = eventKindOf(record, before);
      const at = record.updated_at;
      if (kind !== null) outbox.add({ version, kind, at, record: JSON.stringify(record) });
    },
    changes: (run_id) => ({ run_id, changes: outbox.changes(), webhook_url: outbox.url() }),
    handedOver(version, name, requests) {
      outbox.handedOver(version, name, requests, now());
      if (requests.length > 0) sender.start(requests);
    },
    async replay(name, id) {
      // Stored before and after the call, so that a crash of either object loses no delivery.
      sender.restart(id, name);
      const answer = await project(name).mail.replay(id);
      if (typeof answer === "string") outbox.drop(id);
      else sender.restart(id, name);
      sender.start();
      await rearm();
      return answer;
    },
  };
}

async function post(
  env: Env,
  project: string,
  request: DeliveryRequest,
  timeout_ms: number,
): Promise<PostResult> {
  const now = () => Date.now();
  const at = now();
  const secrets = await openSecrets(env, project, request).catch(() => []);
  // An event is never sent unsigned. A retry succeeds once the secret is rotated or the missing key is configured.
  if (secrets.length === 0) {
    const error = deliveryErrors.secretLost();
    return { attempt: { at, duration: now() - at, response_status: null, error }, verdict: "again" };
  }
  const { fetch } = createOutsideOf(env);
  return postEvent({ ...request, secrets }, { fetch, now, timeout_ms });
}

async function openSecrets(env: Env, project: string, { owner, sealed }: DeliveryRequest): Promise<string[]> {
  const seal = createSealOf(env);
  const home = env.PROJECT.getByName(project);
  return Promise.all(
    sealed.map(async (each) => {
      const { secret, resealed } = await openSecret(seal, ownerOf(project, owner), each);
      if (resealed !== null) await home.secrets.reseal(owner, each, resealed);
      return secret;
    }),
  );
}
