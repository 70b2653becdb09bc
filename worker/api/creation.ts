import type { Context, Handler } from "hono";
import { invalid, MediaError, toMediaError } from "../../src/media/errors.ts";
import { extraInputs } from "../../src/media/extra-inputs.ts";
import type { IdType } from "../../src/runs/ids.ts";
import type { StepRequest, TaskRequest } from "../../src/runs/requests.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isTrusted } from "../../src/storage/http/host-guard.ts";
import { toHex } from "../../src/util/bytes.ts";
import { digest } from "../auth/key-ring.ts";
import type { Seal } from "../connections/seal.ts";
import type { ConnectionUser } from "../errors.ts";
import * as errors from "../errors.ts";
import { readBytes } from "../http/body.ts";
import { type ApiEnv, baseUrl } from "../http/context.ts";
import { isRefusal } from "../http/errors.ts";
import { countCreation, takeWaitQuota } from "../limits/limits.ts";
import type { Runs } from "../run/runs.ts";
import type { Services } from "../services.ts";

/** How a route creates a record. */
export interface Creation<T> {
  sort: IdType;
  /** Creates the record with that id from the request. */
  create(request: Request, c: Context<ApiEnv>, id: string): Promise<T>;
  /** Returns the record with that id, if it exists. */
  find(project: string, id: string): Promise<T | null>;
  /** Encrypts the stored answer, for records with a secret. */
  seal?: Seal;
  /** Returns the part of the record to store as the answer to a repeated request. Defaults to the whole record. */
  stored?(record: T): unknown;
}

/**
 * Builds the handler of a route that creates: 201 with the record. With an `Idempotency-Key`, the same request gets the first record again
 * for a day, with 200. Throws `idempotency_mismatch` for another request with that key, `idempotency_conflict` while the first one is running.
 */
export function creationHandler<T>(services: Services, creation: Creation<T>): Handler<ApiEnv> {
  const { idempotency, id, now, limits } = services;
  const { sort, find, seal, stored = (record) => record } = creation;

  function create(request: Request, c: Context<ApiEnv>, record_id: string): Promise<T> {
    c.set("subject", record_id);
    countCreation(c, limits);
    return creation.create(request, c, record_id);
  }

  async function createOnce(c: Context<ApiEnv>, key: string): Promise<Response> {
    const project = c.get("project");
    const { method, url, headers } = c.req.raw;
    const bytes = await readBytes(c.req.raw);
    const content = `${method} ${new URL(url).pathname}\n${new TextDecoder().decode(bytes)}`;
    const attempt = await idempotency.begin(project, key, toHex(await digest(content)), id(sort, now()));
    if (attempt.state === "running") throw errors.idempotencyConflict();
    if (attempt.state === "other") throw errors.idempotencyMismatch();
    const owner = `${project}/idempotency/${key}`;
    if (attempt.state === "done") {
      const answer = seal ? await seal.open(attempt.answer, owner) : attempt.answer;
      return c.json(JSON.parse(answer) as object, 200);
    }
    try {
      const body = bytes.length > 0 ? bytes : null;
      const earlier = attempt.state === "again" ? await find(project, attempt.id) : null;
      const record = earlier ?? (await create(new Request(url, { method, headers, body }), c, attempt.id));
      const answer = JSON.stringify(stored(record));
      await idempotency.end(project, key, { answer: seal ? await seal.seal(answer, owner) : answer });
      return c.json(record as object, 201);
    } catch (thrown) {
      await idempotency.end(project, key, isRefusal(thrown) ? "refused" : "lost");
      throw thrown;
    }
  }

  return async (c) => {
    const key = c.req.header("Idempotency-Key");
    if (key === undefined) return c.json((await create(c.req.raw, c, id(sort, now()))) as object, 201);
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw errors.idempotencyKeyMalformed();
    return createOnce(c, key);
  };
}

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
