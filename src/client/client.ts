import type {
  Connection,
  ConnectionChange,
  ConnectionRequest,
  ConnectionTest,
  ConnectionTestRequest,
  Reencryption,
  SignedRequest,
  SignRequest,
} from "../core/connection.ts";
import type { EncodeKind, StepKind } from "../core/formats.ts";
import type { ApiKey, KeyRequest, NewApiKey, RollRequest } from "../core/key.ts";
import type { OptionsOf } from "../core/options.ts";
import type { ExternalFile, Source } from "../core/source.ts";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";
import type { Upload, UploadCompletion, UploadRequest } from "../core/upload.ts";
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
} from "../core/webhook.ts";
import type { AnyMedia, MediaInput } from "./read-media.ts";
import type { Update, UploadProgress } from "./update.ts";

export type { AnyMedia, MediaInput, Update, UploadProgress };

/** The request for a new task; its options depend on its kind. */
export interface NewTask<K extends EncodeKind = EncodeKind> {
  input: AnyMedia;
  kind: K;
  options?: OptionsOf<K>;
  /** Destination `s3://<bucket>/<key>`. */
  output?: string;
  metadata?: Record<string, unknown>;
  /** URL to which a service posts the task's events; the local client refuses it. */
  webhook_url?: string;
}

/** The request for a new standalone step; its options depend on its kind. */
export interface NewStep<K extends StepKind = StepKind> {
  kind: K;
  input: Source | ExternalFile | { url: string | URL } | AnyMedia;
  options?: OptionsOf<K>;
  /** URL to which a service posts the step's events; the local client refuses it. */
  webhook_url?: string;
}

/** How the file of a new task or step is uploaded to a service; the local client uploads none. */
export type CreateOptions = Pick<SendOptions, "signal" | "onProgress">;

/** Options of a list; `after` and `before` are ids. */
export interface ListOptions {
  /** 1 to 100, default 20. */
  limit?: number;
  /** Newest first by default. */
  order?: "asc" | "desc";
  after?: string;
  before?: string;
  status?: string;
  kind?: string;
}

/** Options for iterating over a whole list; `limit` is the number of records per request, default 100. */
export type EachOptions = Omit<ListOptions, "before">;

/** A page of a list, and whether more follow in the same direction. */
export interface Page<T> {
  records: T[];
  more: boolean;
}

/** The bytes of a finished run, wherever they are. */
export interface Output {
  /** The file to open: the only one, or the master playlist. */
  readonly source: Source;
  /** A URL for a media element or a download, good as long as the client is open. */
  url(): Promise<string>;
  blob(): Promise<Blob>;
  stream(): Promise<ReadableStream<Uint8Array>>;
  /** Writes the file to where the visitor chose; rejects with `storage_full` when there is no room. */
  saveTo(handle: FileSystemFileHandle): Promise<void>;
}

/** Tasks, wherever they run. Every method rejects with a {@link MediaError}. */
export interface Tasks {
  create<K extends EncodeKind>(request: NewTask<K>, options?: CreateOptions): Promise<Task>;
  get(id: string): Promise<Task>;
  list(options?: ListOptions): Promise<Page<Task>>;
  /** Iterates over all tasks; fetches a page at a time, as they are consumed. */
  each(options?: EachOptions): AsyncGenerator<Task, void>;
  /** Stops the work and resolves with the cancelled task; rejects with `task_finished` when there is nothing to stop. */
  cancel(id: string): Promise<Task>;
  /** Creates a new task with the request of a finished one; rejects with `task_running` while that runs. */
  retry(id: string): Promise<Task>;
  /** Removes a finished task and its output; rejects with `task_running` while it runs. */
  delete(id: string): Promise<void>;
}

/** Standalone steps, wherever they run. */
export interface Steps {
  create<K extends StepKind>(request: NewStep<K>, options?: CreateOptions): Promise<Step>;
  get(id: string): Promise<Step>;
  list(options?: ListOptions): Promise<Page<Step>>;
  /** Iterates over all standalone steps; fetches a page at a time, as they are consumed. */
  each(options?: EachOptions): AsyncGenerator<Step, void>;
  cancel(id: string): Promise<Step>;
  /** Removes a finished standalone step and its output; rejects with `step_running` while it runs. */
  delete(id: string): Promise<void>;
}

/** Credentials of S3-compatible storage that a service keeps. */
export interface Connections {
  /** Stores credentials; no answer ever contains the secret. */
  create(request: ConnectionRequest): Promise<Connection>;
  get(id: string): Promise<Connection>;
  list(options?: Omit<ListOptions, "status">): Promise<Page<Connection>>;
  each(options?: Omit<EachOptions, "status">): AsyncGenerator<Connection, void>;
  update(id: string, change: ConnectionChange): Promise<Connection>;
  /** Writes a small object, reads it back and deletes it; resolves with the result. */
  test(id: string, place: ConnectionTestRequest): Promise<ConnectionTest>;
  /** Signs a request to the storage, for a page that holds no keys; use it as the local client's `sign`. */
  sign(id: string, request: SignRequest): Promise<SignedRequest>;
  /** Re-encrypts every secret with the newest of the service's keys, after a change of keys. */
  reencrypt(): Promise<Reencryption>;
  /** Removes a connection; rejects with `connection_in_use` while a run uses it. */
  delete(id: string): Promise<void>;
}

/** How a file is uploaded to a service. */
export interface SendOptions extends Partial<Omit<UploadRequest, "size">> {
  /** Stops the upload and discards what was sent. */
  signal?: AbortSignal;
  /** Called with the bytes sent so far, and the size of the file; bytes that are sent again count once. */
  onProgress?(sent: number, size: number): void;
}

/** Files uploaded straight from the caller to storage. */
export interface Uploads {
  /** Sends a file in parts, several at once, and resolves with the stored upload, whose `url` is an input of tasks and steps. Rejects with `upload_failed` or `upload_forbidden` and leaves nothing behind. */
  send(file: Blob | FileSystemFileHandle, options?: SendOptions): Promise<Upload>;
  /** Begins an upload whose parts someone else sends, such as a page that holds no key. */
  create(request: UploadRequest): Promise<Upload>;
  get(id: string): Promise<Upload>;
  /** Assembles the file from its parts. */
  complete(id: string, completion?: UploadCompletion): Promise<Upload>;
  /** Discards the parts, or the file where it is in managed storage. */
  delete(id: string): Promise<void>;
}

/** Options of a list of deliveries. */
export interface DeliveryFilter {
  status?: DeliveryStatus;
  /** The kind of the event. */
  kind?: EventKind;
}

/** A project's events, and the URLs they are posted to. */
export interface Webhooks {
  /** URLs that events are posted to. */
  readonly endpoints: {
    /** Adds an endpoint; only this answer contains its secret. */
    create(request: WebhookEndpointRequest): Promise<NewWebhookEndpoint>;
    get(id: string): Promise<WebhookEndpoint>;
    list(options?: Omit<ListOptions, "kind">): Promise<Page<WebhookEndpoint>>;
    each(options?: Omit<EachOptions, "kind">): AsyncGenerator<WebhookEndpoint, void>;
    update(id: string, change: WebhookEndpointChange): Promise<WebhookEndpoint>;
    /** Replaces its secret; the previous one stays valid for a while. */
    rotate(id: string, request?: RotateRequest): Promise<WebhookSecret>;
    delete(id: string): Promise<void>;
  };
  /** Deliveries, each of one event to one URL. */
  readonly deliveries: {
    get(id: string): Promise<WebhookDelivery>;
    list(options?: Omit<ListOptions, "status" | "kind"> & DeliveryFilter): Promise<Page<WebhookDelivery>>;
    each(
      options?: Omit<EachOptions, "status" | "kind"> & DeliveryFilter,
    ): AsyncGenerator<WebhookDelivery, void>;
    /** Delivers its event again, as one more try of the delivery. */
    replay(id: string): Promise<WebhookDelivery>;
  };
  /** Everything that happened in the project, posted or not. */
  readonly events: {
    get(id: string): Promise<WebhookEvent>;
    list(options?: Omit<ListOptions, "status">): Promise<Page<WebhookEvent>>;
    each(options?: Omit<EachOptions, "status">): AsyncGenerator<WebhookEvent, void>;
  };
  /** Replaces the project's secret, which signs posts to the `webhook_url` of a task or step; the previous one stays valid for a while. */
  rotateSecret(request?: RotateRequest): Promise<WebhookSecret>;
}

/** API keys of a project; needs a key that may manage them. */
export interface Keys {
  /** Creates a key; only this answer contains its secret. */
  create(request: KeyRequest): Promise<NewApiKey>;
  get(id: string): Promise<ApiKey>;
  list(options?: Omit<ListOptions, "status" | "kind">): Promise<Page<ApiKey>>;
  each(options?: Omit<EachOptions, "status" | "kind">): AsyncGenerator<ApiKey, void>;
  /** Replaces its secret; the previous one stays valid for a while. */
  roll(id: string, request?: RollRequest): Promise<NewApiKey>;
  /** Revokes it. */
  revoke(id: string): Promise<void>;
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

/** A task or step, or its id. */
export type RunRef = Task | Step | string;

/** The interface to tasks and steps, the same for the page's own machine and for a service. */
export interface Client {
  readonly tasks: Tasks;
  readonly steps: Steps;
  /** Calls the listener with the current state of a task or step and at every change until it is finished, or until the returned function is called. The listener of an unknown one is never called; `wait` rejects for it. */
  on<T extends Task | Step>(
    run: T | string,
    event: "update",
    listener: (update: Update<T>) => void,
  ): () => void;
  /** Yields the current state of a task or step, then its changes, at most about one a second; the last one is its end. Rejects for an unknown one, and with the signal's reason on abort. */
  events<T extends Task | Step>(
    run: T | string,
    options?: { signal?: AbortSignal },
  ): AsyncGenerator<Update<T>, void>;
  /** Resolves with the finished task or step, whatever became of it; rejects with the signal's reason when that aborts, while the run goes on. */
  wait<T extends Task | Step>(run: T | string, options?: { signal?: AbortSignal }): Promise<T>;
  /** Resolves with the bytes of a run that succeeded. Rejects with the error of a run that failed, and with `media_not_found` when there are none. */
  output(run: RunRef): Promise<Output>;
  /** Closes connections and workers; runs at a service continue, those of the page when it is opened again. */
  close(): Promise<void>;
}

/** The client of a service, which also has connections, uploads, webhooks and keys. */
export interface RemoteClient extends Client {
  readonly connections: Connections;
  readonly uploads: Uploads;
  readonly webhooks: Webhooks;
  readonly keys: Keys;
  readonly service: ServiceInfo;
}
