import type { R2Bucket } from "@cloudflare/workers-types";
import { createIds } from "../../../../src/core/ids.ts";
import type { Step } from "../../../../src/core/step.ts";
import type { Task } from "../../../../src/core/task.ts";
import { createApp } from "../../../../worker/app.ts";
import { createKeyRing, type KeyStore } from "../../../../worker/auth/key-ring.ts";
import { createSigner } from "../../../../worker/media/signer.ts";
import { createR2Storage } from "../../../../worker/r2-storage.ts";
import type { Services } from "../../../../worker/services.ts";
import { createMemoryFindStep, createMemoryRuns } from "../memory-runs.ts";

interface Env {
  KV: KeyStore;
  MEDIA: R2Bucket;
  ASSETS: Services["assets"];
  API_KEYS: string;
  MEDIA_SIGNING_KEY: string;
}

let app: ReturnType<typeof createApp> | undefined;

// The API over the platform's own KV, R2 and assets; only the engine is missing.
export default {
  fetch(request: Request, env: Env): Response | Promise<Response> {
    app ??= create(env);
    return app.fetch(request);
  },
};

function create(env: Env): ReturnType<typeof createApp> {
  const tasks = createMemoryRuns<Task>("task");
  const steps = createMemoryRuns<Step>("step");
  const now = () => Date.now();
  return createApp({
    tasks,
    steps,
    findStep: createMemoryFindStep(tasks, steps),
    media: createR2Storage(env.MEDIA),
    keys: createKeyRing(env.KV, env.API_KEYS, now),
    signer: createSigner(env.MEDIA_SIGNING_KEY, now),
    assets: env.ASSETS,
    settings: {},
    now,
    id: createIds(Math.random),
  });
}
