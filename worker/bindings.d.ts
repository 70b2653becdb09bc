/** What the platform binds the service Worker to; see wrangler.toml. Its variables and secrets are in `Env`, parsed. */
interface Bindings {
  /** The mirror of every task and standalone step. */
  KV: KVNamespace;
  /** Media: `work/<run>/…` while a run lasts, `out/<run>/…` for its output. */
  MEDIA: R2Bucket;
  /** A directory for media in place of R2. Only in workerd elsewhere, where it is much faster than what Miniflare makes of R2. */
  DISK?: Fetcher;
  /** One object per task or standalone step: the one writer of its record. */
  TASK: DurableObjectNamespace<import("./run/task-object.ts").TaskObject>;
  /** One object per job: creates its tasks, and keeps what they share. */
  JOB: DurableObjectNamespace<import("./jobs/job-object.ts").JobObject>;
  /** One object per project: the index that lists are read from. */
  PROJECT: DurableObjectNamespace<import("./project-object.ts").ProjectObject>;
  /** One object per project: its keys. */
  KEYS: DurableObjectNamespace<import("./project-object.ts").KeyObject>;
  /** One object in all: which runs go on, and which wait for their turn. */
  QUEUE: DurableObjectNamespace<import("./limits/queue-object.ts").QueueObject>;
  /** One object per upload of a page. */
  UPLOAD: DurableObjectNamespace<import("./media/upload-object.ts").UploadObject>;
  /** One object per picture of an image URL. */
  IMAGE: DurableObjectNamespace<import("./images/image-object.ts").ImageObject>;
  /** The engine: one instance per task or standalone step, in one of these by its id. */
  RUN: Workflow<{ id: string }>;
  RUN_2?: Workflow<{ id: string }>;
  RUN_3?: Workflow<{ id: string }>;
  /** The light encoder, a Worker of its own. */
  ENCODER: Fetcher;
  /** The native encoder in containers; see `NATIVE_INSTANCES`. */
  NATIVE?: DurableObjectNamespace<import("./native-encoder.ts").NativeEncoder>;
  /** Reaches public addresses alone: for requests to hosts that callers name. Only in workerd elsewhere; Cloudflare's own network is like that. */
  OUTSIDE?: Fetcher;
  /** Answers `GET /<host name>` with its addresses as JSON. Only in workerd elsewhere. */
  LOOKUP?: Fetcher;
  /** Dataset of Analytics Engine that takes what is measured of every project; without it there is only `GET /metrics`. */
  ANALYTICS?: AnalyticsEngineDataset;
  /** Static files: the API reference page. */
  ASSETS: Fetcher;
}
