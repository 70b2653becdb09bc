import { z } from "zod";
import { MediaError, toMediaError } from "../media/errors.ts";
import { isId } from "../runs/ids.ts";
import { Upload, type UploadCompletion, type UploadPart } from "../runs/upload.ts";
import { doubling, inParallel, isTransient, retry } from "../util/async.ts";
import type { ListOptions, Page, SendOptions } from "./client.ts";
import * as errors from "./errors.ts";
import type { Call, Fetch, HttpRequest, ResponseSchema } from "./http.ts";
import { openFile } from "./media-input.ts";
import { eachRecord } from "./methods.ts";
import type { Uploads, Webhooks } from "./remote-client.ts";

const PATHS = {
  task: "/tasks",
  job: "/jobs",
  step: "/steps",
  connection: "/connections",
  upload: "/uploads",
  endpoint: "/webhooks/endpoints",
  delivery: "/webhooks/deliveries",
  event: "/events",
  key: "/keys",
} as const;

export type RecordType = keyof typeof PATHS;

export interface Records<T> {
  get(id: string, more?: Pick<HttpRequest, "signal" | "patient">): Promise<T>;
  list(options?: ListOptions): Promise<Page<T>>;
  each(options?: ListOptions): AsyncGenerator<T, void>;
  /** Creates one record, however often the request is retried or repeated with the same idempotency key. */
  create<R = T>(request: unknown, schema?: ResponseSchema<R>, key?: string): Promise<R>;
  update(id: string, change: unknown): Promise<T>;
  delete(id: string): Promise<void>;
  act<R = T>(
    id: string,
    action: string,
    settings?: Pick<HttpRequest, "body" | "creates" | "repeats" | "signal">,
    schema?: ResponseSchema<R>,
  ): Promise<R>;
}

/** Creates {@link Records} from the schema of one record; malformed ids are rejected without a request. */
export function createRecords<T extends { id: string }>(
  call: Call,
  type: RecordType,
  schema: ResponseSchema<T>,
): Records<T> {
  const send = async <R>(request: HttpRequest, result: ResponseSchema<R>) =>
    (await call(request, result)).value;
  const page = async () => z.array(typeof schema === "function" ? await schema() : schema);

  async function list({ signal, ...options }: ListOptions = {}): Promise<Page<T>> {
    const fields = Object.entries(options).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(fields.map(([name, value]) => [name, String(value)]));
    const path = query.size > 0 ? `${PATHS[type]}?${query}` : PATHS[type];
    const { value, headers } = await call({ method: "GET", path, signal }, page);
    return { records: value, more: headers.get("Has-More") === "true" };
  }

  return {
    get: async (id, { signal, patient = false } = {}) =>
      send({ method: "GET", path: pathOf(type, id), signal, patient }, schema),
    list,
    each: (options) => eachRecord(list, options),
    create: (body, result = schema as ResponseSchema<never>, key) =>
      send({ method: "POST", path: PATHS[type], body, creates: true, key }, result),
    update: async (id, body) => send({ method: "PATCH", path: pathOf(type, id), body }, schema),
    async delete(id) {
      await call({ method: "DELETE", path: pathOf(type, id) }, z.null());
    },
    act: async (id, action, settings = {}, result = schema as ResponseSchema<never>) =>
      send({ method: "POST", path: `${pathOf(type, id)}/${action}`, ...settings }, result),
  };
}

/** Returns the path of a record; throws its not-found error for a malformed id, which could lead to another path. */
export function pathOf(type: RecordType, id: string): string {
  if (isId(type, id)) return `${PATHS[type]}/${id}`;
  throw errors.recordNotFound(type);
}

// Browsers allow six connections to a host; two remain for the page's other requests.
const PARTS_AT_ONCE = 4;

/** Creates the part of a client that uploads files, with XMLHttpRequest when `fetch` is null. */
export function createRemoteUploads(call: Call, fetch: Fetch | null): Uploads {
  const uploads = createRecords(call, "upload", Upload);
  const complete = (id: string, body: UploadCompletion = {}, signal?: AbortSignal) =>
    uploads.act(id, "complete", { body, signal, repeats: true });

  async function send(input: Blob | FileSystemFileHandle, options: SendOptions = {}): Promise<Upload> {
    const { signal, onProgress, idempotencyKey, ...settings } = options;
    signal?.throwIfAborted();
    const file = await openFile(input);
    const { size } = file;
    const begin = (key?: string) =>
      uploads.create({ ...descriptionOf(file), ...settings, size }, undefined, key);
    let upload = await begin(idempotencyKey);
    if (idempotencyKey !== undefined) {
      // The service repeats its first response, but the upload may have been stored or deleted since.
      upload = await uploads.get(upload.id).catch((thrown) => {
        if (toMediaError(thrown).kind !== "media_not_found") throw thrown;
        return begin();
      });
      if (upload.status === "stored") {
        onProgress?.(size, size);
        return upload;
      }
    }
    const stop = new AbortController();
    const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    const bytesByPart = new Map<number, number>();
    const report = (part: number, bytes: number) => {
      bytesByPart.set(part, Math.max(bytesByPart.get(part) ?? 0, bytes));
      const all = [...bytesByPart.values()].reduce((sum, each) => sum + each, 0);
      onProgress?.(Math.min(size, all), size);
    };
    try {
      const parts = await putAll(
        withOffsets(upload.parts),
        ({ part, start, ...rest }) =>
          putPart({ part, ...rest }, file.slice(start, start + rest.size), {
            fetch,
            signal: either,
            onSent: (bytes) => report(part, bytes),
          }),
        (thrown) => stop.abort(thrown),
      );
      either.throwIfAborted();
      return await complete(upload.id, completionOf(parts), either);
    } catch (thrown) {
      stop.abort();
      await uploads.delete(upload.id).catch(() => {});
      throw thrown;
    }
  }

  return {
    send,
    create: (request) => uploads.create(request),
    get: uploads.get,
    complete: (id, body) => complete(id, body),
    delete: uploads.delete,
  };
}

function descriptionOf(file: Blob): { content_type: string; name?: string } {
  const [type = ""] = file.type.split(";");
  const content_type = type.trim() || "application/octet-stream";
  return "name" in file && typeof file.name === "string" && file.name !== ""
    ? { content_type, name: file.name }
    : { content_type };
}

// When CORS hides ETags from the page, the service reads them from the storage.
function completionOf(parts: readonly { part: number; etag: string | null }[]): UploadCompletion {
  const withEtags = parts.flatMap(({ part, etag }) => (etag === null ? [] : [{ part, etag }]));
  return withEtags.length === parts.length ? { parts: withEtags } : {};
}

type OffsetPart = UploadPart & { start: number };

function withOffsets(parts: readonly UploadPart[]): OffsetPart[] {
  let start = 0;
  return parts.map((part) => {
    const at = start;
    start += part.size;
    return { ...part, start: at };
  });
}

async function putAll(
  parts: readonly OffsetPart[],
  put: (part: OffsetPart) => Promise<string | null>,
  onFailure: (thrown: unknown) => void,
): Promise<{ part: number; etag: string | null }[]> {
  const done: { part: number; etag: string | null }[] = [];
  const putOne = async (part: OffsetPart) => void done.push({ part: part.part, etag: await put(part) });
  await inParallel(parts, PARTS_AT_ONCE, putOne, onFailure);
  return done.sort((a, b) => a.part - b.part);
}

export interface PutOptions {
  /** Sends the parts; null to use XMLHttpRequest, which alone reports the bytes sent so far. */
  fetch: Fetch | null;
  signal: AbortSignal;
  /** Called with the bytes of the part sent so far. */
  onSent(bytes: number): void;
}

const TRIES = 5;
const PAUSE_MS = 250;
const RESPONSE_MS = 30_000;
const BYTES_PER_MS = 32;

/**
 * Uploads a part and resolves to its ETag, or null when the storage does not expose it. Retries failures of the network and
 * the storage a few times; rejects with `upload_forbidden`, `storage_full` or `upload_failed`.
 */
function putPart(part: UploadPart, body: Blob, options: PutOptions): Promise<string | null> {
  const { signal } = options;
  return retry(() => putOnce(part, body, options), {
    tries: TRIES,
    pauseMs: doubling(PAUSE_MS),
    signal,
    helps: (thrown) => !signal.aborted && thrown instanceof MediaError && thrown.retryable,
  });
}

async function putOnce(part: UploadPart, body: Blob, options: PutOptions): Promise<string | null> {
  const timeout = AbortSignal.timeout(RESPONSE_MS + Math.ceil(body.size / BYTES_PER_MS));
  const signal = AbortSignal.any([options.signal, timeout]);
  const put = options.fetch ? putByFetch(options.fetch) : putByXhr;
  const noResponse = { status: 0, etag: null };
  const { status, etag } = await put(part, body, signal, options.onSent).catch(() => noResponse);
  options.signal.throwIfAborted();
  if (status >= 200 && status < 300) return etag;
  throw uploadError(part.url, status);
}

type Put = (
  part: UploadPart,
  body: Blob,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
) => Promise<{ status: number; etag: string | null }>;

function putByFetch(fetch: Fetch): Put {
  return async ({ url, headers }, body, signal, onSent) => {
    const response = await fetch(url, {
      method: "PUT",
      headers: settableHeaders(headers),
      body,
      signal,
      redirect: "error",
    });
    await response.arrayBuffer();
    if (response.ok) onSent(body.size);
    return { status: response.status, etag: response.headers.get("ETag") };
  };
}

const putByXhr: Put = ({ url, headers }, body, signal, onSent) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    for (const [name, value] of Object.entries(settableHeaders(headers)))
      request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded }) => onSent(Math.min(loaded, body.size)));
    const abort = () => request.abort();
    signal.addEventListener("abort", abort, { once: true });
    request.addEventListener("loadend", () => {
      signal.removeEventListener("abort", abort);
      const { status } = request;
      if (status === 0) return reject(errors.partUnanswered());
      if (status < 300) onSent(body.size);
      resolve({ status, etag: request.getResponseHeader("ETag") });
    });
    if (signal.aborted) return reject(signal.reason);
    request.send(new Blob([body], { type: headers["content-type"] ?? headers["Content-Type"] ?? "" }));
  });

// Platforms set these headers and reject requests that do.
function settableHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(content-length|host)$/i.test(name)),
  );
}

function uploadError(url: string, status: number): MediaError {
  const host = URL.parse(url)?.host;
  if (status === 0) return errors.uploadUnreachable({ host });
  if (status === 401 || status === 403) return errors.uploadForbidden({ host, status });
  if (status === 507) return errors.uploadFull({ host });
  return errors.uploadFailed({ host, status, retryable: isTransient(status) });
}

const webhookSchemas = () => import("../runs/webhook-events.ts");

/** Creates the part of a client that manages endpoints and reads events and deliveries. */
export function createRemoteWebhooks(call: Call): Webhooks {
  const endpoints = createRecords(call, "endpoint", async () => (await webhookSchemas()).WebhookEndpoint);
  const deliveries = createRecords(call, "delivery", async () => (await webhookSchemas()).WebhookDelivery);
  const events = createRecords(call, "event", async () => (await webhookSchemas()).WebhookEvent);
  const newEndpoint = async () => (await webhookSchemas()).NewWebhookEndpoint;
  const secret = async () => (await webhookSchemas()).WebhookSecret;
  return {
    endpoints: {
      create: (request) => endpoints.create(request, newEndpoint),
      get: endpoints.get,
      list: endpoints.list,
      each: endpoints.each,
      update: endpoints.update,
      rotate: (id, body = {}) => endpoints.act(id, "rotate", { body }, secret),
      delete: endpoints.delete,
    },
    deliveries: {
      get: deliveries.get,
      list: deliveries.list,
      each: deliveries.each,
      replay: (id) => deliveries.act(id, "replay"),
    },
    events: { get: events.get, list: events.list, each: events.each },
    async rotateSecret(body = {}) {
      return (await call({ method: "POST", path: "/webhooks/secret/rotate", body }, secret)).value;
    },
  };
}
