/** The bindings of the service Worker; see wrangler.toml. `Env` has its variables and secrets, parsed. */
interface Bindings {
  /** The mirror of every task and standalone step. */
  KV: KVNamespace;
  /** Media: `work/<run>/…` while a run lasts, `out/<run>/…` for its output. */
  MEDIA: R2Bucket;
  /** A directory for media instead of R2; only in the local service, where it is much faster than Miniflare's R2. */
  DISK?: Fetcher;
  /** One object per task or standalone step: the only writer of its record. */
  TASK: DurableObjectNamespace<import("./run/task-object.ts").TaskObject>;
  /** One object per job: creates its tasks and keeps their shared input. */
  JOB: DurableObjectNamespace<import("./jobs/job-object.ts").JobObject>;
  /** One object per project: its index, from which lists are read. */
  PROJECT: DurableObjectNamespace<import("./project-object.ts").ProjectObject>;
  /** One object per project: its keys. */
  KEYS: DurableObjectNamespace<import("./project-object.ts").KeyObject>;
  /** A single object: the queues of runs. */
  QUEUE: DurableObjectNamespace<import("./limits/queue-object.ts").QueueObject>;
  /** One object per upload of a page. */
  UPLOAD: DurableObjectNamespace<import("./media/upload-object.ts").UploadObject>;
  /** One object per picture of an image URL. */
  IMAGE: DurableObjectNamespace<import("./images/image-object.ts").ImageObject>;
  /** The Workflows: each task or standalone step has an instance in one of these, chosen by its id. */
  RUN: Workflow<{ id: string }>;
  RUN_2?: Workflow<{ id: string }>;
  RUN_3?: Workflow<{ id: string }>;
  /** The light encoder, a separate Worker. */
  ENCODER: Fetcher;
  /** The native encoder in containers; see `NATIVE_INSTANCES`. */
  NATIVE?: DurableObjectNamespace<import("./native-encoder.ts").NativeEncoder>;
  /** Connects only to public addresses, for requests to hosts that callers name. Only in the local service; Cloudflare's network does so itself. */
  OUTSIDE?: Fetcher;
  /** Responds to `GET /<host name>` with its addresses as JSON. Only in the local service. */
  LOOKUP?: Fetcher;
  /** Analytics Engine dataset that receives the metrics of every project; without it there is only `GET /metrics`. */
  ANALYTICS?: AnalyticsEngineDataset;
  /** Static files: the API reference page, and fonts. */
  ASSETS: Fetcher;
}
