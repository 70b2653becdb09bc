import type { Context } from "hono";
import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import { type ApiEnv, baseUrl } from "../http/context.ts";
import { takeRoom } from "../limits/enforce.ts";
import type { Runs } from "../run/runs.ts";
import type { Services } from "../services.ts";
import { checkWebhook } from "../webhooks/check-url.ts";
import { type ConnectionNeed, reserveConnection } from "./check-access.ts";

/** What a new run needs beside its record. */
export interface RunNeeds {
  need: ConnectionNeed | null;
  webhook_url?: string | undefined;
  /** The key to encrypt its output by, as given, which its record lacks; null for none. */
  content_key: string | null;
}

/** Stores a new task or standalone step whose input may be read, when there is room for it, and starts its run when it is its turn; throws what the checks throw. */
export async function createRun<T extends Task | Step>(
  c: Context<ApiEnv>,
  services: Services,
  runs: Runs<T>,
  record: T,
  { need, webhook_url, content_key }: RunNeeds,
): Promise<T> {
  const project = c.get("project");
  await checkWebhook({ webhook_url }, project, services);
  await takeRoom(c, services.limits);
  await reserveConnection(services, project, record.id, need);
  const base = baseUrl(c, services.settings);
  const sealed_key = content_key == null ? undefined : await services.seal.seal(content_key, record.id);
  return runs.create(project, record, { base, key_id: c.get("principal").id, webhook_url, sealed_key });
}
