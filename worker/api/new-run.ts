import type { Context } from "hono";
import { invalid, MediaError, toMediaError } from "../../src/media/errors.ts";
import { extraInputs } from "../../src/media/extra-inputs.ts";
import type { StepRequest, TaskRequest } from "../../src/runs/requests.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isTrusted } from "../../src/storage/http/host-guard.ts";
import type { ConnectionUser } from "../errors.ts";
import * as errors from "../errors.ts";
import { type ApiEnv, baseUrl } from "../http/context.ts";
import { takeWaitQuota } from "../limits/limits.ts";
import type { Runs } from "../run/runs.ts";
import type { Services } from "../services.ts";

type InputServices = Pick<Services, "signer" | "outside" | "page_uploads">;

/** The reason that a run needs a connection. */
export interface ConnectionNeed {
  /** Field of the request that needs it. */
  param: string;
  user: ConnectionUser;
  /** Id of the connection to use. Defaults to the project's default connection. */
  connection_id?: string;
}

/** The data of a new run that its record lacks. */
export interface RunSettings {
  need: ConnectionNeed | null;
  webhook_url?: string | undefined;
  /** The key to encrypt its output with, which its record lacks; null for none. */
  content_key: string | null;
}

/**
 * Checks that a task may read its inputs, and returns whether it needs a connection; throws `invalid_input`. `prefix` is the path of an
 * output of a job in the request, such as `outputs.0.`.
 */
export async function checkTaskAccess(
  request: TaskRequest,
  project: string,
  services: InputServices,
  prefix = "",
): Promise<ConnectionNeed | null> {
  const need = await checkInputs(request, { url: request.input, param: "input" }, project, services, prefix);
  const isDefaultOnly = need === null || need.connection_id !== undefined;
  return isDefaultOnly && request.output !== undefined ? outputNeed(prefix) : need;
}

/** Returns the need of an S3 output. `prefix` is as for `checkTaskAccess`. */
export function outputNeed(prefix: string): ConnectionNeed {
  return { param: `${prefix}output`, user: "output" };
}

/** Checks that a standalone step may read its inputs, and returns whether it needs a connection; throws `invalid_input`. */
export async function checkStepAccess(
  request: StepRequest,
  project: string,
  services: InputServices,
): Promise<ConnectionNeed | null> {
  const input = { url: request.input.url, param: "input.url" };
  const need = await checkInputs(request, input, project, services);
  if (request.kind !== "upload") return need;
  const { connection_id } = request.options;
  const upload = { param: "options.connection_id", user: "upload" } as const;
  return typeof connection_id === "string" ? { ...upload, connection_id } : upload;
}

/** Reserves the connection that a run needs; throws `connection_required`, or `connection_not_found` for one that the request names. */
export async function reserveConnection(
  { connections }: Pick<Services, "connections">,
  project: string,
  run_id: string,
  need: ConnectionNeed | null,
): Promise<void> {
  if (!need || (await connections.reserve(project, run_id, need.connection_id))) return;
  const { param, user, connection_id } = need;
  if (connection_id !== undefined) throw errors.notFound("connection", { param });
  throw errors.connectionRequired({ param, user });
}

/** Stores a new task or standalone step once all checks pass, and queues its run; throws what the checks throw. */
export async function createRun<T extends Task | Step>(
  c: Context<ApiEnv>,
  services: Services,
  runs: Runs<T>,
  record: T,
  { need, webhook_url, content_key }: RunSettings,
): Promise<T> {
  const project = c.get("project");
  await checkWebhook({ webhook_url }, project, services);
  await takeWaitQuota(c, services.limits);
  await reserveConnection(services, project, record.id, need);
  const base = baseUrl(c, services.settings);
  const sealed_key = content_key === null ? undefined : await services.seal.seal(content_key, record.id);
  return runs.create(project, record, { base, key_id: c.get("principal").id, webhook_url, sealed_key });
}

async function checkInputs(
  request: { options?: unknown },
  main: { url: string; param: string },
  project: string,
  services: InputServices,
  prefix = "",
): Promise<ConnectionNeed | null> {
  let first: ConnectionNeed | null = null;
  const extra = extraInputs(request).map(({ url, param }) => ({ url, param: prefix + param }));
  for (const { url, param } of [main, ...extra]) {
    const need = await checkInput(url, param, project, services);
    if (first && need && first.connection_id !== need.connection_id)
      throw errors.connectionsDiffer({ param, other: first.param });
    first ??= need;
  }
  return first;
}

async function checkInput(
  url: string,
  param: string,
  project: string,
  { signer, outside, page_uploads }: InputServices,
): Promise<ConnectionNeed | null> {
  if (/^s3:/i.test(url)) return { param, user: "input" };
  // The service's own media come from storage, even when its own host is not allowed.
  if ((await signer.resolve(url)) !== null) return null;
  try {
    const upload = await page_uploads.find(project, url);
    if (upload?.status === "waiting") throw errors.uploadIncomplete({ param });
    if (upload?.connection_id) return { param, user: "upload", connection_id: upload.connection_id };
    if (upload) return null;
    await outside.guard(url);
    return null;
  } catch (thrown) {
    if (thrown instanceof MediaError && thrown.param !== undefined) throw thrown;
    throw errors.inputRefused({ param, message: toMediaError(thrown).message });
  }
}

type Needs = Pick<Services, "outside" | "settings">;

/** Checks the webhook URL of a new run, if any, and ensures that there is a secret to sign with; rejects with `request_invalid`. */
export async function checkWebhook(
  { webhook_url }: { webhook_url?: string | undefined },
  project: string,
  needs: Needs & Pick<Services, "webhooks">,
): Promise<void> {
  if (webhook_url === undefined) return;
  await checkWebhookUrl(webhook_url, "webhook_url", needs);
  await needs.webhooks.prepare(project);
}

/** Checks that events may be posted to a URL; rejects with `request_invalid` for a host that is not public, and for http unless private hosts are allowed. */
export async function checkWebhookUrl(
  url: string,
  param: string,
  { outside, settings }: Needs,
): Promise<void> {
  const parsed = new URL(url);
  if (parsed.protocol !== "https:" && !isTrusted(parsed, settings))
    throw invalid(param, "must be a URL that starts with https://.");
  try {
    await outside.guard(url);
  } catch (thrown) {
    throw errors.refusedUrl({ param, message: toMediaError(thrown).message });
  }
}
