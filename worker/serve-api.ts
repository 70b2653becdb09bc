import { waitUntil } from "cloudflare:workers";
import { createIds } from "../src/runs/ids.ts";
import type { Step } from "../src/runs/step.ts";
import type { Task } from "../src/runs/task.ts";
import { createApp } from "./app.ts";
import { createKeyRing } from "./auth/key-ring.ts";
import { DIRECTORY } from "./auth/key-table.ts";
import { createKeys } from "./auth/project-keys.ts";
import { createConnections } from "./connections/connections.ts";
import { createSealOf } from "./connections/seal.ts";
import { createOutsideOf, type Env, hostRules, mediaBucket, random, readEnv } from "./env.ts";
import type { RequestState } from "./http/idempotency.ts";
import { createImages } from "./images/images.ts";
import { createJobs } from "./jobs/job-access.ts";
import { createWaitQuota, type Limits } from "./limits/limits.ts";
import { createRateLimiter } from "./limits/rate-limiter.ts";
import { QUEUE_NAME } from "./limits/run-queue.ts";
import { createLog } from "./log.ts";
import { createR2Uploads, noteUploads } from "./media/r2-uploads.ts";
import { createImageSigner, createSigner } from "./media/signed-urls.ts";
import { createPageUploadsOf } from "./media/upload-object.ts";
import { patiently } from "./network/durable-objects.ts";
import { SERVICE_IN_CONTAINER } from "./run/encoders.ts";
import { createFindStep, createRuns } from "./run/run-access.ts";
import { createEstimates, createPreviews } from "./run/samples.ts";
import { createPinnedMedia } from "./run/storage.ts";
import { type ServiceSettings, SettingsError } from "./settings.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";

const now = () => Date.now();

// Created by the first request, because a Worker's startup may neither draw random numbers nor do I/O.
let app: ReturnType<typeof createApp> | undefined;

/** Handles a request to the API; responds with 503 `service_unavailable` while a setting is missing or malformed. */
export function serveApi(request: Request, bindings: Bindings): Response | Promise<Response> {
  try {
    app ??= createService(readEnv(bindings));
  } catch (thrown) {
    if (thrown instanceof SettingsError) return answerUnset(thrown);
    throw thrown;
  }
  return app.fetch(request);
}

function createService(env: Env): ReturnType<typeof createApp> {
  const { settings } = env;
  const tasks = createRuns<Task>(env, "task");
  const seal = createSealOf(env);
  const signer = createSigner(settings.MEDIA_SIGNING_KEY, now);
  const keysIn = (locator: string) => env.KEYS.getByName(locator).keys;
  return createApp({
    tasks,
    jobs: createJobs(env, tasks),
    steps: createRuns<Step>(env, "step"),
    findStep: createFindStep(env),
    openMedia: () => createPinnedMedia(env, signer),
    uploads: noteUploads(createR2Uploads(mediaBucket(env)), {
      note: (run_id, key, upload) => env.TASK.getByName(run_id).noteUpload(upload, key),
      forget: (run_id, upload) => env.TASK.getByName(run_id).forgetUpload(upload),
    }),
    page_uploads: createPageUploadsOf(env),
    goesOn: (run_id) => env.TASK.getByName(run_id).goesOn(),
    connections: createConnections((project) => env.PROJECT.getByName(project), seal),
    webhooks: createWebhooks(
      (project) => env.PROJECT.getByName(project),
      seal,
      (run_id, project, id) => env.TASK.getByName(run_id).replay(project, id),
      now,
    ),
    seal,
    outside: createOutsideOf(env),
    idempotency: {
      begin: (project, key, digest, id) =>
        patiently<RequestState>(async () =>
          env.PROJECT.getByName(project).idempotency.begin(key, digest, id),
        ),
      end: (project, key, ended) =>
        patiently(() => env.PROJECT.getByName(project).idempotency.end(key, ended)),
    },
    metrics: (project) => env.PROJECT.getByName(project).readMetrics(),
    log: createLog(settings.LOG_LEVEL),
    keys: createKeyRing({
      home: (locator) => ({ find: (hash, at) => patiently(async () => keysIn(locator).find(hash, at)) }),
      apiKeys: settings.API_KEYS ?? [],
      operators: settings.OPERATOR_KEY ?? [],
      now,
    }),
    managed_keys: createKeys({
      home: keysIn,
      directory: () => env.KEYS.getByName(DIRECTORY).projects,
      live: (project) => env.PROJECT.getByName(project).keyUses(),
      maxKeys: settings.MAX_KEYS,
      now,
    }),
    limits: createLimitsOf(env, waitUntil, now),
    signer,
    image_signer: createImageSigner(settings.MEDIA_SIGNING_KEY, now),
    images: createImages(env, now),
    estimates: createEstimates(env),
    previews: createPreviews(env),
    assets: env.ASSETS,
    settings: {
      base_url: settings.PUBLIC_URL,
      cors_origins: settings.CORS_ORIGINS,
      service_hosts: serviceHosts(settings),
      image_origins: settings.IMAGE_ORIGINS,
      ...hostRules(env),
    },
    now,
    id: createIds(random),
  });
}

function serviceHosts({ SERVICE_HOSTS, PUBLIC_URL }: ServiceSettings): string[] | undefined {
  if (!SERVICE_HOSTS) return undefined;
  const base = PUBLIC_URL === undefined ? [] : [PUBLIC_URL];
  // Containers reach the service at a host that no other client can use.
  return [...SERVICE_HOSTS, ...[...base, SERVICE_IN_CONTAINER].map((url) => new URL(url).host)];
}

// Anybody may read the response, so only the log contains the values.
function answerUnset({ message, summary }: SettingsError): Response {
  console.error(JSON.stringify({ level: "error", message: "not set up", error: message }));
  return Response.json({ kind: "service_unavailable", message: summary }, { status: 503 });
}

/** Creates the limits from the Worker's bindings and settings. `goOn` keeps a promise alive after the response. */
function createLimitsOf(env: Env, goOn: (promise: Promise<unknown>) => void, now: () => number): Limits {
  const { MAX_REQUESTS: requests, MAX_CREATIONS: creations, MAX_WAITING } = env.settings;
  return {
    rate: createRateLimiter({
      limits: { requests, creations },
      home: (project) => env.PROJECT.getByName(project),
      later: (ms, work) => goOn(ms > 0 ? scheduler.wait(ms).then(work) : work()),
      now,
    }),
    waiting: createWaitQuota(MAX_WAITING, (project) => env.QUEUE.getByName(QUEUE_NAME).waiting(project), now),
  };
}
