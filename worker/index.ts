import { env } from "cloudflare:workers";
import { createIds } from "../src/core/ids.ts";
import type { Step } from "../src/core/step.ts";
import type { Task } from "../src/core/task.ts";
import { createApp } from "./app.ts";
import { createKeyRing } from "./auth/key-ring.ts";
import { createFindStep, createRuns } from "./engine.ts";
import type { Env } from "./env.ts";
import { createR2Uploads } from "./media/r2-uploads.ts";
import { createSigner } from "./media/signer.ts";
import { createR2Storage } from "./r2-storage.ts";
import { readHostRules } from "./settings.ts";

export { ProjectObject } from "./project-object.ts";
export { TaskObject } from "./task-object.ts";
export { TaskWorkflow } from "./task-workflow.ts";

const bound = env as Env;
const now = () => Date.now();
const random = () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32;

// Built with the first request: a Worker's start may neither draw random numbers nor do I/O.
let app: ReturnType<typeof createApp> | undefined;

function createService(): ReturnType<typeof createApp> {
  return createApp({
    tasks: createRuns<Task>(bound, "task"),
    steps: createRuns<Step>(bound, "step"),
    findStep: createFindStep(bound),
    media: createR2Storage(bound.MEDIA),
    uploads: createR2Uploads(bound.MEDIA),
    goesOn: (run_id) => bound.TASK.getByName(run_id).goesOn(),
    keys: createKeyRing(bound.KV, bound.API_KEYS ?? "", now),
    signer: createSigner(bound.MEDIA_SIGNING_KEY ?? "", now),
    assets: bound.ASSETS,
    settings: { base_url: bound.PUBLIC_URL || undefined, ...readHostRules(bound) },
    now,
    id: createIds(random),
  });
}

// A setting that is missing or malformed: the message names it and holds no value.
function answerUnset(thrown: unknown): Response {
  const message = thrown instanceof Error ? thrown.message : "The service is not set up.";
  console.error(JSON.stringify({ message: "not set up", error: message }));
  return Response.json({ kind: "service_unavailable", message }, { status: 503 });
}

/** The service Worker: HTTP comes in here, and the engine and the records are its other exports. */
export default {
  fetch(request, bindings, context) {
    try {
      app ??= createService();
    } catch (thrown) {
      return answerUnset(thrown);
    }
    return app.fetch(request, bindings, context);
  },
} satisfies ExportedHandler<Env>;
