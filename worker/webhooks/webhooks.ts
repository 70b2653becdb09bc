import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type {
  NewWebhookEndpoint,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEvent,
  WebhookSecret,
} from "../../src/runs/webhook-events.ts";
import { toBase64 } from "../../src/util/bytes.ts";
import type { Seal } from "../connections/seal.ts";
import * as errors from "../errors.ts";
import type { Remote } from "../network/durable-objects.ts";
import { PROJECT_OWNER } from "./delivery.ts";
import type { EndpointTable, SecretTable } from "./endpoint-table.ts";
import type { WebhookQueueMethods } from "./webhook-queue.ts";

/** Endpoints, events and deliveries, each in its project. Ids of other projects are unknown. */
export interface Webhooks {
  /** Stores an endpoint and returns it with its secret, which is never returned again; rejects with `request_invalid` when the project has the maximum. */
  create(project: string, endpoint: WebhookEndpoint): Promise<NewWebhookEndpoint>;
  list(project: string, query: ListQuery): Promise<ListPage<WebhookEndpoint>>;
  get(project: string, id: string): Promise<WebhookEndpoint | null>;
  /** Changes an endpoint; rejects with `endpoint_not_found`. */
  change(project: string, id: string, change: WebhookEndpointChange): Promise<WebhookEndpoint>;
  /** Removes an endpoint with its secrets; rejects with `endpoint_not_found`. */
  remove(project: string, id: string): Promise<void>;
  /**
   * Creates a new secret for an endpoint, or for the project when `id` is null, and returns it, which no other call does. The previous
   * secret stays valid for `keep_seconds`. Rejects with `endpoint_not_found`.
   */
  rotate(project: string, id: string | null, keep_seconds: number): Promise<WebhookSecret>;
  /** Ensures that the project has a secret to sign deliveries to a `webhook_url`. */
  prepare(project: string): Promise<void>;
  /** Reencrypts the project's secrets with the newest key. Returns the count of all and of the reencrypted secrets, and the owners of those that no key decrypts. */
  reencrypt(project: string): Promise<{ webhook_secrets: number; reencrypted: number; failed: string[] }>;
  event(project: string, id: string): Promise<WebhookEvent | null>;
  events(project: string, query: ListQuery): Promise<ListPage<WebhookEvent>>;
  delivery(project: string, id: string): Promise<WebhookDelivery | null>;
  deliveries(project: string, query: ListQuery): Promise<ListPage<WebhookDelivery>>;
  /** Repeats a delivery; rejects with `delivery_not_found`, or with `endpoint_not_found` or `endpoint_disabled` when it has no receiver. */
  replay(project: string, id: string): Promise<WebhookDelivery>;
}

/** The webhook methods of a project's object. */
export interface WebhookHome {
  readonly endpoints: Remote<EndpointTable>;
  readonly secrets: Remote<SecretTable>;
  readonly mail: Remote<WebhookQueueMethods>;
}

/** Asks the object of a run to repeat a delivery; otherwise resolves to what is missing for it. */
export type Replay = (
  run_id: string,
  project: string,
  delivery_id: string,
) => Promise<WebhookDelivery | "delivery" | "endpoint" | "disabled">;

/** Creates the access to webhooks through the objects of their projects. Generates secrets and seals each for its owner. */
export function createWebhooks(
  home: (project: string) => WebhookHome,
  seal: Seal,
  replay: Replay,
  now: () => number,
): Webhooks {
  const draw = async (project: string, owner: string) => {
    const secret = drawSecret();
    return { secret, sealed: await seal.seal(secret, ownerOf(project, owner)) };
  };

  return {
    async create(project, endpoint) {
      const { secret, sealed } = await draw(project, endpoint.id);
      const added = await home(project).mail.addEndpoint(endpoint, sealed);
      if (!added) throw errors.tooManyEndpoints();
      return { ...added, secret };
    },
    list: (project, query) => home(project).endpoints.list(query),
    get: (project, id) => home(project).endpoints.get(id),
    async change(project, id, change) {
      const changed = await home(project).endpoints.change(id, change);
      if (!changed) throw errors.notFound("endpoint");
      return changed;
    },
    async remove(project, id) {
      if (!(await home(project).mail.removeEndpoint(id))) throw errors.notFound("endpoint");
    },
    async rotate(project, id, keep_seconds) {
      if (id !== null && !(await home(project).endpoints.get(id))) throw errors.notFound("endpoint");
      const owner = id ?? PROJECT_OWNER;
      const { secret, sealed } = await draw(project, owner);
      const created_at = now();
      const until = created_at + keep_seconds * 1000;
      const existed = await home(project).secrets.rotate(owner, sealed, until);
      const previous_until = existed && keep_seconds > 0 ? until : null;
      return { object: "webhook_secret", endpoint_id: id, secret, previous_until, created_at };
    },
    async prepare(project) {
      if (await home(project).secrets.has(PROJECT_OWNER)) return;
      const { sealed } = await draw(project, PROJECT_OWNER);
      await home(project).secrets.first(PROJECT_OWNER, sealed);
    },
    async reencrypt(project) {
      const secrets = await home(project).secrets.all();
      const result = { webhook_secrets: secrets.length, reencrypted: 0, failed: [] as string[] };
      for (const { owner, sealed } of secrets) {
        const opened = await openSecret(seal, ownerOf(project, owner), sealed).catch(() => null);
        if (!opened) result.failed.push(owner);
        if (!opened?.resealed) continue;
        await home(project).secrets.reseal(owner, sealed, opened.resealed);
        result.reencrypted++;
      }
      return { ...result, failed: [...new Set(result.failed)] };
    },
    async event(project, id) {
      const text = await home(project).mail.event(id);
      return text === null ? null : (JSON.parse(text) as WebhookEvent);
    },
    async events(project, query) {
      const { records, more } = await home(project).mail.events(query);
      return { records: records.map((text) => JSON.parse(text) as WebhookEvent), more };
    },
    async delivery(project, id) {
      return (await home(project).mail.delivery(id))?.delivery ?? null;
    },
    deliveries: (project, query) => home(project).mail.deliveries(query),
    async replay(project, id) {
      const stored = await home(project).mail.delivery(id);
      const answer = stored ? await replay(stored.run_id, project, id) : "delivery";
      if (answer === "delivery") throw errors.notFound("delivery");
      if (answer === "endpoint") throw errors.endpointDeleted();
      if (answer === "disabled") throw errors.endpointDisabled();
      return answer;
    },
  };
}

/** Opens a sealed secret. If an older key sealed it, also returns it sealed with the newest, to replace it in storage. */
export async function openSecret(
  seal: Seal,
  owner: string,
  sealed: string,
): Promise<{ secret: string; resealed: string | null }> {
  const secret = await seal.open(sealed, owner);
  return { secret, resealed: (await seal.isCurrent(sealed)) ? null : await seal.seal(secret, owner) };
}

/** Returns the context that a sealed secret is bound to. */
export function ownerOf(project: string, owner: string): string {
  return `${project}/webhooks/${owner}`;
}

// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme: 24 to 64 bytes
function drawSecret(): string {
  return `whsec_${toBase64(crypto.getRandomValues(new Uint8Array(32)))}`;
}
