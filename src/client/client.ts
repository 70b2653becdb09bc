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
import type { Update } from "./update.ts";

export type { Update };

/** Media given to a client: a URL (http, https or s3), or, where the client takes them, a file of the visitor. */
export type MediaInput = string | Blob | FileSystemFileHandle;

/** What a new task is made from; the options are those of its kind. */
export interface NewTask<K extends EncodeKind = EncodeKind> {
  input: MediaInput;
  kind: K;
  options?: OptionsOf<K>;
  /** Destination `s3://<bucket>/<key>`. */
  output?: string;
  metadata?: Record<string, unknown>;
  /** Where a service posts the events of the task; a client of the page itself refuses it. */
  webhook_url?: string;
}

/** What a new standalone step is made from; the options are those of its kind. */
export interface NewStep<K extends StepKind = StepKind> {
  kind: K;
  input: Source | ExternalFile | { url: string } | Blob | FileSystemFileHandle;
  options?: OptionsOf<K>;
  /** Where a service posts the events of the step; a client of the page itself refuses it. */
  webhook_url?: string;
}

/** What a list asks for; `after` and `before` are ids. */
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

/** What a walk through a whole list asks for; `limit` is how many records come with one request, default 100. */
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
  create<K extends EncodeKind>(request: NewTask<K>): Promise<Task>;
  get(id: string): Promise<Task>;
  list(options?: ListOptions): Promise<Page<Task>>;
  /** Gives all tasks one by one, a page at a time as they are taken. */
  each(options?: EachOptions): AsyncGenerator<Task, void>;
  /** Stops the work; gives the cancelled task. Rejects with `task_finished` when there is nothing to stop. */
  cancel(id: string): Promise<Task>;
  /** Makes a new task with the request of a finished one; rejects with `task_running` while that runs. */
  retry(id: string): Promise<Task>;
  /** Removes a finished task and its output; rejects with `task_running` while it runs. */
  delete(id: string): Promise<void>;
}

/** Standalone steps, wherever they run. */
export interface Steps {
  create<K extends StepKind>(request: NewStep<K>): Promise<Step>;
  get(id: string): Promise<Step>;
  list(options?: ListOptions): Promise<Page<Step>>;
  /** Gives all standalone steps one by one, a page at a time as they are taken. */
  each(options?: EachOptions): AsyncGenerator<Step, void>;
  cancel(id: string): Promise<Step>;
}

/** Credentials of S3-compatible storage that a service keeps. */
export interface Connections {
  /** Stores credentials; the secret is never given back. */
  create(request: ConnectionRequest): Promise<Connection>;
  get(id: string): Promise<Connection>;
  list(options?: Omit<ListOptions, "status">): Promise<Page<Connection>>;
  each(options?: Omit<EachOptions, "status">): AsyncGenerator<Connection, void>;
  update(id: string, change: ConnectionChange): Promise<Connection>;
  /** Writes a small object, reads it back and deletes it; resolves with what came of it. */
  test(id: string, place: ConnectionTestRequest): Promise<ConnectionTest>;
  /** Signs a request to the storage, for a page that holds no keys; it is what the local client's `sign` wants. */
  sign(id: string, request: SignRequest): Promise<SignedRequest>;
  /** Encrypts every secret under the newest of the service's keys, after a change of keys. */
  reencrypt(): Promise<Reencryption>;
  /** Removes a connection; rejects with `connection_in_use` while a run uses it. */
  delete(id: string): Promise<void>;
}

/** A file that is sent to a service, and how. */
export interface SendOptions extends Partial<Omit<UploadRequest, "size">> {
  /** Stops sending, and drops what was sent. */
  signal?: AbortSignal;
  /** Takes how many bytes were sent so far, of how many; what has to be sent again counts once. */
  onProgress?(sent: number, size: number): void;
}

/** Files that go from the caller straight to storage. */
export interface Uploads {
  /** Sends a file, in parts of which some go at once, and gives the stored upload: its `url` is an input of tasks and steps. Rejects with `upload_failed` or `upload_forbidden`; nothing is left behind then. */
  send(file: Blob | FileSystemFileHandle, options?: SendOptions): Promise<Upload>;
  /** Begins an upload whose parts somebody else puts, such as a page that holds no key. */
  create(request: UploadRequest): Promise<Upload>;
  get(id: string): Promise<Upload>;
  /** Makes the file of its parts. */
  complete(id: string, completion?: UploadCompletion): Promise<Upload>;
  /** Drops what was sent, and a file in managed storage. */
  delete(id: string): Promise<void>;
}

/** What a list of deliveries asks for. */
export interface DeliveryFilter {
  status?: DeliveryStatus;
  /** The kind of the event. */
  kind?: EventKind;
}

/** What a project's events are, and where they are posted to. */
export interface Webhooks {
  /** URLs that events are posted to. */
  readonly endpoints: {
    /** Adds an endpoint; the answer alone holds its secret. */
    create(request: WebhookEndpointRequest): Promise<NewWebhookEndpoint>;
    get(id: string): Promise<WebhookEndpoint>;
    list(options?: Omit<ListOptions, "kind">): Promise<Page<WebhookEndpoint>>;
    each(options?: Omit<EachOptions, "kind">): AsyncGenerator<WebhookEndpoint, void>;
    update(id: string, change: WebhookEndpointChange): Promise<WebhookEndpoint>;
    /** Gives it a new secret; the one before is good for a while. */
    rotate(id: string, request?: RotateRequest): Promise<WebhookSecret>;
    delete(id: string): Promise<void>;
  };
  /** Events on their way to one URL each. */
  readonly deliveries: {
    get(id: string): Promise<WebhookDelivery>;
    list(options?: Omit<ListOptions, "status" | "kind"> & DeliveryFilter): Promise<Page<WebhookDelivery>>;
    each(
      options?: Omit<EachOptions, "status" | "kind"> & DeliveryFilter,
    ): AsyncGenerator<WebhookDelivery, void>;
    /** Delivers its event again, as one more try of the delivery. */
    replay(id: string): Promise<WebhookDelivery>;
  };
  /** What happened in the project, whether it was posted anywhere or not. */
  readonly events: {
    get(id: string): Promise<WebhookEvent>;
    list(options?: Omit<ListOptions, "status">): Promise<Page<WebhookEvent>>;
    each(options?: Omit<EachOptions, "status">): AsyncGenerator<WebhookEvent, void>;
  };
  /** Gives the project a new secret, which signs what goes to the `webhook_url` of a task or step; the one before is good for a while. */
  rotateSecret(request?: RotateRequest): Promise<WebhookSecret>;
}

/** API keys of a project, for a key that may manage them. */
export interface Keys {
  /** Makes a key; the answer alone holds its secret. */
  create(request: KeyRequest): Promise<NewApiKey>;
  get(id: string): Promise<ApiKey>;
  list(options?: Omit<ListOptions, "status" | "kind">): Promise<Page<ApiKey>>;
  each(options?: Omit<EachOptions, "status" | "kind">): AsyncGenerator<ApiKey, void>;
  /** Gives it a new secret; the one before is good for a while. */
  roll(id: string, request?: RollRequest): Promise<NewApiKey>;
  /** Takes it out of use. */
  revoke(id: string): Promise<void>;
}

/** The service itself. */
export interface ServiceInfo {
  /** Resolves when the service answers. */
  health(): Promise<{ status: "ok" }>;
  /** Gives the counts and timings of the project as Prometheus reads them. */
  metrics(): Promise<string>;
  /** Gives the OpenAPI document of the service. */
  document(): Promise<Record<string, unknown>>;
}

/** A task or step that is watched: itself, or its id. */
export type RunRef = Task | Step | string;

/** The one interface to tasks and steps: a page's own machine and the edge have the same. */
export interface Client {
  readonly tasks: Tasks;
  readonly steps: Steps;
  /** Calls back with how a task or step stands, then at every change until it is finished, or until the function given back is called. An unknown one is never called back about; `wait` rejects for it. */
  on<T extends Task | Step>(
    run: T | string,
    event: "update",
    listener: (update: Update<T>) => void,
  ): () => void;
  /** Gives how a task or step stands, then its changes one by one, at most about one a second, until it is finished: the last one is its end. Rejects for an unknown one, and with the signal's reason when that aborts. */
  events<T extends Task | Step>(
    run: T | string,
    options?: { signal?: AbortSignal },
  ): AsyncGenerator<Update<T>, void>;
  /** Resolves with the finished task or step, whatever became of it; rejects with the signal's reason when that aborts, while the run goes on. */
  wait<T extends Task | Step>(run: T | string, options?: { signal?: AbortSignal }): Promise<T>;
  /** Gives the bytes of a run that succeeded; rejects with `media_not_found` when it has none. */
  output(run: RunRef): Promise<Output>;
  /** Lets go of connections and workers; runs of the edge go on, those of the page when it is opened again. */
  close(): Promise<void>;
}

/** The client of a service, which has connections, uploads, webhooks and keys beside the rest. */
export interface RemoteClient extends Client {
  readonly connections: Connections;
  readonly uploads: Uploads;
  readonly webhooks: Webhooks;
  readonly keys: Keys;
  readonly service: ServiceInfo;
}
