import type { ImageUrl, ImageUrlRequest } from "../media/image-url.ts";
import type {
  Connection,
  ConnectionChange,
  ConnectionRequest,
  ConnectionTest,
  ConnectionTestRequest,
  Reencryption,
  SignedRequest,
  SignRequest,
} from "../runs/connection.ts";
import type { ApiKey, KeyRequest, NewApiKey, RollRequest } from "../runs/key.ts";
import type { Upload, UploadCompletion, UploadRequest } from "../runs/upload.ts";
import type {
  DeliveryStatus,
  EventKind,
  NewWebhookEndpoint,
  RotateRequest,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest,
  WebhookEvent,
  WebhookSecret,
} from "../runs/webhook-events.ts";
import type { Client, EachOptions, ListOptions, Page, ReadOptions, SendOptions } from "./client.ts";

/** Credentials of S3-compatible storage that a service keeps. */
export interface Connections {
  /** Stores credentials; no response ever contains the secret. */
  create(request: ConnectionRequest): Promise<Connection>;
  /** Returns a connection; rejects with `connection_not_found`. */
  get(id: string, options?: ReadOptions): Promise<Connection>;
  /** Lists a page of connections, the newest first. */
  list(options?: Omit<ListOptions, "status">): Promise<Page<Connection>>;
  /** Iterates over all connections; fetches a page at a time, as they are consumed. */
  each(options?: Omit<EachOptions, "status">): AsyncGenerator<Connection, void>;
  /** Changes the named fields; runs that have started keep the previous values. */
  update(id: string, change: ConnectionChange): Promise<Connection>;
  /** Writes a small object, reads it back and deletes it; resolves with the result. */
  test(id: string, place: ConnectionTestRequest): Promise<ConnectionTest>;
  /** Signs a request to the storage for a page without credentials; use it as the local client's `sign`. */
  sign(id: string, request: SignRequest): Promise<SignedRequest>;
  /** Re-encrypts every secret with the service's newest key, after a key rotation. */
  reencrypt(): Promise<Reencryption>;
  /** Removes a connection; rejects with `connection_in_use` while a run uses it. */
  delete(id: string): Promise<void>;
}

/** Files uploaded straight from the caller to storage. */
export interface Uploads {
  /**
   * Sends a file in parallel parts and resolves to the stored upload, whose `url` is an input of tasks and steps. Rejects
   * with `upload_failed` or `upload_forbidden` and leaves nothing behind.
   */
  send(file: Blob | FileSystemFileHandle, options?: SendOptions): Promise<Upload>;
  /** Begins an upload whose parts someone else sends, such as a page without an API key. */
  create(request: UploadRequest): Promise<Upload>;
  /** Returns an upload; rejects with `media_not_found`. */
  get(id: string, options?: ReadOptions): Promise<Upload>;
  /** Assembles the file from its parts. */
  complete(id: string, completion?: UploadCompletion): Promise<Upload>;
  /** Discards the parts, or the file if it is in managed storage. */
  delete(id: string): Promise<void>;
}

/** Options of a list of deliveries. */
export interface DeliveryFilter {
  /** The state of the delivery. */
  status?: DeliveryStatus;
  /** The kind of the event. */
  kind?: EventKind;
}

/** A project's events, and the URLs they are posted to. */
export interface Webhooks {
  /** URLs that events are posted to. */
  readonly endpoints: {
    /** Adds an endpoint; only this response contains its secret. */
    create(request: WebhookEndpointRequest): Promise<NewWebhookEndpoint>;
    /** Returns an endpoint; rejects with `endpoint_not_found`. */
    get(id: string, options?: ReadOptions): Promise<WebhookEndpoint>;
    /** Lists a page of endpoints, the newest first. */
    list(options?: Omit<ListOptions, "kind">): Promise<Page<WebhookEndpoint>>;
    /** Iterates over all endpoints; fetches a page at a time, as they are consumed. */
    each(options?: Omit<EachOptions, "kind">): AsyncGenerator<WebhookEndpoint, void>;
    /** Changes its URL, its topics, or whether it receives events. */
    update(id: string, change: WebhookEndpointChange): Promise<WebhookEndpoint>;
    /** Replaces its secret; the previous one stays valid for a while. */
    rotate(id: string, request?: RotateRequest): Promise<WebhookSecret>;
    /** Removes an endpoint; its pending deliveries fail. */
    delete(id: string): Promise<void>;
  };
  /** Deliveries, each of one event to one URL. */
  readonly deliveries: {
    /** Returns a delivery; rejects with `delivery_not_found`. */
    get(id: string, options?: ReadOptions): Promise<WebhookDelivery>;
    /** Lists a page of deliveries, the newest first. */
    list(options?: Omit<ListOptions, "status" | "kind"> & DeliveryFilter): Promise<Page<WebhookDelivery>>;
    /** Iterates over all deliveries; fetches a page at a time, as they are consumed. */
    each(
      options?: Omit<EachOptions, "status" | "kind"> & DeliveryFilter,
    ): AsyncGenerator<WebhookDelivery, void>;
    /** Delivers the event again, as another attempt of the same delivery. */
    replay(id: string): Promise<WebhookDelivery>;
  };
  /** All events of the project, whether posted or not. */
  readonly events: {
    /** Returns an event; rejects with `event_not_found`. */
    get(id: string, options?: ReadOptions): Promise<WebhookEvent>;
    /** Lists a page of events, the newest first. */
    list(options?: Omit<ListOptions, "status">): Promise<Page<WebhookEvent>>;
    /** Iterates over all events; fetches a page at a time, as they are consumed. */
    each(options?: Omit<EachOptions, "status">): AsyncGenerator<WebhookEvent, void>;
  };
  /** Replaces the project's secret, which signs posts to the `webhook_url` of a task or step; the previous one stays valid for a while. */
  rotateSecret(request?: RotateRequest): Promise<WebhookSecret>;
}

/** API keys of a project; requires a key that may manage keys. */
export interface Keys {
  /** Creates a key; only this response contains its secret. */
  create(request: KeyRequest): Promise<NewApiKey>;
  /** Returns a key; rejects with `key_not_found`. */
  get(id: string, options?: ReadOptions): Promise<ApiKey>;
  /** Lists a page of keys, the newest first. */
  list(options?: Omit<ListOptions, "status" | "kind">): Promise<Page<ApiKey>>;
  /** Iterates over all keys; fetches a page at a time, as they are consumed. */
  each(options?: Omit<EachOptions, "status" | "kind">): AsyncGenerator<ApiKey, void>;
  /** Replaces its secret; the previous one stays valid for a while. */
  roll(id: string, request?: RollRequest): Promise<NewApiKey>;
  /** Revokes a key. */
  revoke(id: string): Promise<void>;
}

/** Pictures in the size and format that a page needs. */
export interface Images {
  /**
   * Signs the URL of a converted picture, for an `<img>`; the service converts it at the first request. Rejects with
   * `invalid_options` or `invalid_input`.
   */
  sign(request: ImageUrlRequest): Promise<ImageUrl>;
}

/** The service itself. */
export interface ServiceInfo {
  /** Resolves when the service answers. */
  health(): Promise<{ status: "ok" }>;
  /** Returns the project's counts and timings in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Returns the service's OpenAPI document. */
  document(): Promise<Record<string, unknown>>;
}

/** The client of a service, which adds connections, uploads, images, webhooks and keys. */
export interface RemoteClient extends Client {
  /** Credentials of your own S3 storage. */
  readonly connections: Connections;
  /** Files sent to the service, or straight to a bucket. */
  readonly uploads: Uploads;
  /** Signed URLs of pictures in other sizes and formats. */
  readonly images: Images;
  /** Events, and where they are posted. */
  readonly webhooks: Webhooks;
  /** API keys of the project. */
  readonly keys: Keys;
  /** Health, metrics and the OpenAPI document. */
  readonly service: ServiceInfo;
}
