import type { CreateId } from "../src/runs/ids.ts";
import type { Step } from "../src/runs/step.ts";
import type { Task } from "../src/runs/task.ts";
import type { KeyRing } from "./auth/key-ring.ts";
import type { Keys } from "./auth/project-keys.ts";
import type { Connections } from "./connections/connections.ts";
import type { Seal } from "./connections/seal.ts";
import type { ApiSettings } from "./http/context.ts";
import type { Idempotency } from "./http/idempotency.ts";
import type { Images } from "./images/image.ts";
import type { Jobs } from "./jobs/job-state.ts";
import type { Limits } from "./limits/limits.ts";
import type { PageUploads } from "./media/page-uploads.ts";
import type { ImageSigner, Signer } from "./media/signed-urls.ts";
import type { MediaReader } from "./media/transfer.ts";
import type { Uploads } from "./media/uploads.ts";
import type { Outside } from "./network/outside.ts";
import type { Log } from "./observability/log.ts";
import type { MetricsReport } from "./observability/metrics.ts";
import type { FindStep, Runs } from "./run/runs.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

/** Everything that the API is built on; the composition root provides it. */
export interface Services {
  tasks: Runs<Task>;
  jobs: Jobs;
  /** Standalone steps. */
  steps: Runs<Step>;
  /** Finds a step standing alone or inside a task. */
  findStep: FindStep;
  /** Opens the bytes behind the media URLs, for one request. */
  openMedia(): MediaReader;
  /** Takes the files that encoders elsewhere put. */
  uploads: Uploads;
  /** Uploads of pages straight to storage. */
  page_uploads: PageUploads;
  /** True while the run exists and is not finished. */
  goesOn(run_id: string): Promise<boolean>;
  connections: Connections;
  webhooks: Webhooks;
  /** Encrypts stored secrets. */
  seal: Seal;
  /** The way to hosts that callers name. */
  outside: Outside;
  idempotency: Idempotency;
  /** Returns what was measured of a project. */
  metrics(project: string): Promise<MetricsReport>;
  log: Log;
  /** Knows the owners of keys. */
  keys: KeyRing;
  /** Creates and revokes keys. */
  managed_keys: Keys;
  limits: Limits;
  signer: Signer;
  image_signer: ImageSigner;
  /** Finds or makes the pictures of image URLs. */
  images: Images;
  /** The files of the reference page, which `worker/local/build/build-assets.ts` writes. */
  assets: { fetch(request: Request): Promise<Response> };
  settings: ApiSettings;
  /** Milliseconds since the Unix epoch. */
  now(): number;
  id: CreateId;
}
