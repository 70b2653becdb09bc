import { DurableObject } from "cloudflare:workers";
import { createIds } from "../../src/core/ids.ts";
import type { ListPage, ListQuery } from "../../src/core/lists.ts";
import type { WebhookDelivery, WebhookEndpoint, WebhookEndpointChange } from "../../src/core/webhook.ts";
import { serviceSettings } from "../settings/service-settings.ts";
import { createPostOffice, type PostOffice } from "./post-office.ts";
import type { ChangeSet, Outcome, Shipment } from "./shipment.ts";

const PRUNE_MS = 3_600_000;

const random = () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32;

/** The part of a project's object that keeps its webhooks. */
export abstract class ProjectWebhooks extends DurableObject<Bindings> {
  /** The events, whom they are told to, and what came of it. */
  protected readonly post_office: PostOffice;
  readonly #keep_ms: number;
  #armed = false;

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    this.#keep_ms = serviceSettings(bindings).EVENT_TTL * 1000;
    this.post_office = createPostOffice(ctx.storage.sql, createIds(random), this.#keep_ms);
  }

  /** Removes what is too old, also of a project in which nothing happens any more. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    const next = this.post_office.prune(now);
    // Not one by one.
    if (next !== null) await this.ctx.storage.setAlarm(Math.max(next, now + PRUNE_MS));
  }

  /** Makes events of changes, and gives what is to be delivered of them. */
  protected post(set: ChangeSet): Shipment[] {
    const now = Date.now();
    if (!this.#armed) void this.ctx.storage.setAlarm(now + this.#keep_ms);
    this.#armed = true;
    return this.post_office.post(set, now);
  }

  /** Adds an endpoint with its sealed secret; null when there are as many as there may be. */
  addEndpoint(endpoint: WebhookEndpoint, sealed: string): WebhookEndpoint | null {
    const { endpoints, secrets } = this.post_office;
    const added = endpoints.add(endpoint);
    // One whose answer was lost is made again.
    secrets.remove(endpoint.id);
    if (added) secrets.first(added.id, sealed, Date.now());
    return added;
  }

  /** Gives an endpoint. */
  getEndpoint(id: string): WebhookEndpoint | null {
    return this.post_office.endpoints.get(id);
  }

  /** Gives a page of endpoints. */
  listEndpoints(query: ListQuery): ListPage<WebhookEndpoint> {
    return this.post_office.endpoints.list(query);
  }

  /** Changes an endpoint; null when it is not there. */
  changeEndpoint(id: string, change: WebhookEndpointChange): WebhookEndpoint | null {
    return this.post_office.endpoints.change(id, change, Date.now());
  }

  /** Removes an endpoint with its secrets; false when it is not there. */
  removeEndpoint(id: string): boolean {
    this.post_office.secrets.remove(id);
    return this.post_office.endpoints.remove(id);
  }

  /** True when an owner has a secret. */
  hasSecret(owner: string): boolean {
    return this.post_office.secrets.of(owner, Date.now()).length > 0;
  }

  /** Keeps the first secret of an owner. */
  firstSecret(owner: string, sealed: string): void {
    this.post_office.secrets.first(owner, sealed, Date.now());
  }

  /** Puts a new secret in the place of an owner's; tells whether there was one. */
  rotateSecret(owner: string, sealed: string, keep_until: number): { had: boolean } {
    return { had: this.post_office.secrets.rotate(owner, sealed, keep_until, Date.now()) };
  }

  /** Gives all sealed secrets. */
  listSecrets(): { owner: string; sealed: string }[] {
    return this.post_office.secrets.all();
  }

  /** Keeps a secret sealed otherwise. */
  resealSecret(owner: string, before: string, after: string): void {
    this.post_office.secrets.reseal(owner, before, after);
  }

  /** Gives an event as JSON. */
  getEvent(id: string): string | null {
    return this.post_office.event(id, Date.now());
  }

  /** Gives a page of events as JSON texts. */
  listEvents(query: ListQuery): ListPage<string> {
    return this.post_office.events(query, Date.now());
  }

  /** Gives a delivery and the run whose object makes it. */
  getDelivery(id: string): { run_id: string; delivery: WebhookDelivery } | null {
    return this.post_office.delivery(id, Date.now());
  }

  /** Gives a page of deliveries. */
  listDeliveries(query: ListQuery): ListPage<WebhookDelivery> {
    return this.post_office.deliveries(query, Date.now());
  }

  /** Gives a delivery that is to be made, with all that it needs now; null when it is not to be made any more. */
  shipDelivery(id: string): Shipment | null {
    return this.post_office.ship(id, Date.now());
  }

  /** Notes what came of a try. */
  noteDelivery(id: string, outcome: Outcome): void {
    this.post_office.note(id, outcome);
  }

  /** Has a delivery made again from the beginning; tells why it cannot be. */
  replayDelivery(id: string): WebhookDelivery | "delivery" | "endpoint" | "disabled" {
    return this.post_office.replay(id, Date.now());
  }
}
