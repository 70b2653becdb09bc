/** What the service Worker is bound to; see wrangler.toml. */
export interface Env {
  /** Keys, and the mirror of every task and standalone step. */
  KV: KVNamespace;
  /** Media: `work/<run>/…` while a run lasts, `out/<run>/…` for its output. */
  MEDIA: R2Bucket;
  /** One object per task or standalone step: the one writer of its record. */
  TASK: DurableObjectNamespace<import("./task-object.ts").TaskObject>;
  /** One object per project: the index that lists are read from. */
  PROJECT: DurableObjectNamespace<import("./project-object.ts").ProjectObject>;
  /** One object in all: which runs go on, and which wait for their turn. */
  QUEUE: DurableObjectNamespace<import("./limits/queue-object.ts").QueueObject>;
  /** One object per upload of a page. */
  UPLOAD: DurableObjectNamespace<import("./uploads/object.ts").UploadObject>;
  /** The engine: one instance per task or standalone step. */
  RUN: Workflow<{ id: string }>;
  /** The light encoder, a Worker of its own. */
  ENCODER: Fetcher;
  /** The native encoder in containers; see `NATIVE_INSTANCES`. */
  NATIVE?: DurableObjectNamespace<import("./container/class.ts").NativeEncoder>;
  /** Reaches public addresses alone: for requests to hosts that callers name. Only in workerd elsewhere; Cloudflare's own network is like that. */
  OUTSIDE?: Fetcher;
  /** Answers `GET /<host name>` with its addresses as JSON. Only in workerd elsewhere. */
  LOOKUP?: Fetcher;
  /** Dataset of Analytics Engine that takes what is measured of every project; without it there is only `GET /metrics`. */
  ANALYTICS?: AnalyticsEngineDataset;
  /** Static files: the API reference page. */
  ASSETS: Fetcher;
  /** Secret: comma-separated `KEY` or `PROJECT:KEY`, accepted beside the keys in KV. */
  API_KEYS?: string;
  /** Secret: signs media URLs. */
  MEDIA_SIGNING_KEY?: string;
  /** Secret: encrypts the secrets of connections and webhooks; comma-separated, the newest first. Without it there are neither. */
  CONNECTION_KEYS?: string;
  /** Base of the URLs that the service gives out; default the request's own origin. */
  PUBLIC_URL?: string;
  /** "true" lets inputs be on loopback and private hosts: for local use. */
  ALLOW_PRIVATE_NETWORK?: string;
  /** Comma-separated private hosts, `host` or `host:port`, that inputs may be on all the same: for self-hosting. */
  ALLOWED_HOSTS?: string;
  /** Seconds that an output and its URL live; default 604800 (7 days). */
  MEDIA_TTL?: string;
  /** Bytes that an input may have; default 5 GB. */
  MAX_INPUT_BYTES?: string;
  /** Seconds that an input may last; default 21600 (6 hours). */
  MAX_INPUT_SECONDS?: string;
  /** Seconds of silence after which a run is looked after; default 30. */
  WATCH_SECONDS?: string;
  /** Seconds without progress after which a run fails as `stalled`; default 300. */
  STALL_SECONDS?: string;
  /** Seconds that fetching an input may take; default 3600. */
  INGEST_SECONDS?: string;
  /** Seconds that events and their deliveries are kept; default 604800 (7 days). */
  EVENT_TTL?: string;
  /** Seconds that a receiver of webhooks may take to answer; default 10. */
  WEBHOOK_TIMEOUT_SECONDS?: string;
  /** Seconds until a delivery is tried for the second time, and four times as long each time after that; default 5. */
  WEBHOOK_RETRY_SECONDS?: string;
  /** Comma-separated base URLs of native encoders elsewhere, asked in place of the containers. They must reach the service at `PUBLIC_URL`, or where it was asked at. */
  NATIVE_ENCODER_URL?: string;
  /** Secret: what native encoders are told as bearer token, where they ask for one. */
  NATIVE_ENCODER_TOKEN?: string;
  /** `error` writes faults alone to the log; else every request and every end of a run has its line too. */
  LOG_LEVEL?: string;
  /** Containers with the native encoder that are used at once; default 0. */
  NATIVE_INSTANCES?: string;
  /** Chunks of one encode that are encoded at once; default 8. */
  MAX_CHUNKS_IN_FLIGHT?: string;
  /** Requests a minute of one key; default 300. */
  MAX_REQUESTS?: string;
  /** Requests a minute of one key that make a record; default 60. */
  MAX_CREATIONS?: string;
  /** Tasks and standalone steps of one key that run at once, while the others wait; default 25. */
  MAX_RUNNING?: string;
  /** Tasks and standalone steps that run at once in all; default 1000. */
  MAX_RUNNING_TOTAL?: string;
  /** Tasks and standalone steps of one key that may wait; default 1000. */
  MAX_WAITING?: string;
}
