import type { CreateId } from "../src/runs/ids.ts";
import type { EstimateRequest, PreviewRequest } from "../src/runs/requests.ts";
import type { OutputEstimate, PreviewResponse } from "../src/runs/samples.ts";
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
import type { Log } from "./log.ts";
import type { PageUploads } from "./media/page-uploads.ts";
import type { ImageSigner, Signer } from "./media/signed-urls.ts";
import type { MediaReader } from "./media/transfer.ts";
import type { Uploads } from "./media/uploads.ts";
import type { MetricsReport } from "./metrics.ts";
import type { Outside } from "./network/outside.ts";
import type { FindStep, Runs } from "./run/runs.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

/** The project that requests an estimate or a preview, and the base of the service's URLs. */
export interface SampleOwner {
  project: string;
  base: string;
}

/** Returns the estimate of an output; rejects with the errors of its task, and with the signal's reason. */
export type Estimates = (
  owner: SampleOwner,
  request: EstimateRequest,
  signal: AbortSignal,
) => Promise<OutputEstimate>;

/** Makes the preview of an output; rejects with the errors of its task, and with the signal's reason. */
export type Previews = (
  owner: SampleOwner,
  request: PreviewRequest,
  signal: AbortSignal,
) => Promise<PreviewResponse>;

/** The dependencies of the API, which the composition root provides. */
export interface Services {
  tasks: Runs<Task>;
  jobs: Jobs;
  /** Standalone steps. */
  steps: Runs<Step>;
  /** Finds a standalone step or a step of a task. */
  findStep: FindStep;
  /** Returns the reader of media, for one request. */
  openMedia(): MediaReader;
  /** Stores the files that remote encoders upload. */
  uploads: Uploads;
  /** Uploads from pages straight to storage. */
  page_uploads: PageUploads;
  /** Whether the run exists and is not finished. */
  goesOn(run_id: string): Promise<boolean>;
  connections: Connections;
  webhooks: Webhooks;
  /** Encrypts stored secrets. */
  seal: Seal;
  /** Access to hosts that callers name. */
  outside: Outside;
  idempotency: Idempotency;
  /** Returns the metrics of a project. */
  metrics(project: string): Promise<MetricsReport>;
  log: Log;
  /** Authenticates keys. */
  keys: KeyRing;
  /** Creates and revokes keys. */
  managed_keys: Keys;
  limits: Limits;
  signer: Signer;
  image_signer: ImageSigner;
  /** Returns the pictures of image URLs. */
  images: Images;
  /** Estimates outputs. */
  estimates: Estimates;
  /** Makes previews. */
  previews: Previews;
  /** The files of the reference page, which `worker/local/build/build-assets.ts` writes. */
  assets: { fetch(request: Request): Promise<Response> };
  settings: ApiSettings;
  /** Milliseconds since the Unix epoch. */
  now(): number;
  id: CreateId;
}
