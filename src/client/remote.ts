import { z } from "zod";
import { MediaError, toMediaError } from "../media/errors.ts";
import { mapExtraInputs } from "../media/extra-inputs.ts";
import { Connection, ConnectionTest, Reencryption, SignedRequest } from "../runs/connection.ts";
import { IDEMPOTENCY_KEY_MAX, isId } from "../runs/ids.ts";
import { ApiKey, NewApiKey } from "../runs/key.ts";
import type { Task as TaskRecord } from "../runs/task.ts";
import { isFinished } from "../runs/transitions.ts";
import type { Upload } from "../runs/upload.ts";
import { sleep, untilAborted } from "../util/async.ts";
import { sha256Hex } from "../util/bytes.ts";
import type {
  CreateOptions,
  FilmstripOptions,
  FilmstripPicture,
  NewPreview,
  NewSample,
  NewStep,
  NewTask,
  OutputEstimate,
  Preview,
  ReadOptions,
} from "./client.ts";
import * as errors from "./errors.ts";
import {
  createHttp,
  type Fetch,
  type Http,
  type HttpRequest,
  loadSchema,
  parseResponse,
  pauseMs,
  readError,
} from "./http.ts";
import { type Job, type NewJob, waitForJob, watchJob } from "./jobs.ts";
import { readDataUrl, readInput } from "./media-input.ts";
import {
  createWatchMethods,
  isMoment,
  isView,
  outputSource,
  probeEntries,
  probeInput,
  runTask,
  updatesOf,
} from "./methods.ts";
import { createRemoteOutput } from "./output.ts";
import { updateOf } from "./progress.ts";
import { readEvents } from "./read-events.ts";
import type { AnyRun, RunRef, Step, Task } from "./records.ts";
import type { RemoteClient, Uploads } from "./remote-client.ts";
import { createRecords, createRemoteUploads, createRemoteWebhooks, pathOf } from "./resources.ts";
import type { Update } from "./update.ts";
import { createWatch, POLL_TIMES, type PollTimes } from "./watch.ts";

/** Options of {@link createRemoteClient}. */
export interface RemoteClientOptions {
  /** URL of the service, such as `https://media.example`. */
  baseUrl: string;
  /** API key, which is sent to the service only, never with requests for media. */
  apiKey: string;
  /**
   * Sends the requests.
   *
   * @default the platform's own fetch
   */
  fetch?: Fetch;
  /** How often to poll watched runs. */
  poll?: Partial<PollTimes>;
}

// Loaded with the first request: they include the facts of every option.
const schemas = {
  task: async () => (await import("../runs/task.ts")).Task,
  step: async () => (await import("../runs/step.ts")).Step,
  job: async () => (await import("../runs/job.ts")).Job,
  update: async () => (await import("./update.ts")).TaskUpdate,
  estimate: async () => (await import("../runs/samples.ts")).OutputEstimate,
  preview: async () => (await import("../runs/samples.ts")).PreviewResponse,
  imageUrl: async () => (await import("../media/image-url.ts")).ImageUrl,
};

const Health = z.object({ status: z.literal("ok") });

/**
 * Creates the client of a service over its HTTP API, in a page, a worker or Node.
 *
 * @throws `request_invalid` for a malformed base URL, `token_invalid` for a malformed key.
 * @example
 * const client = createRemoteClient({ baseUrl: "https://media.example.com", apiKey: "your-key" });
 * const task = await client.tasks.create({ input: "https://example.com/clip.mov", kind: "video" });
 * const done = await client.tasks.wait(task);
 */
export function createRemoteClient(options: RemoteClientOptions): RemoteClient {
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const service = { base_url: parseBaseUrl(options.baseUrl), api_key: parseKey(options.apiKey), fetch };
  // XMLHttpRequest reports upload progress, but must not bypass a caller's own fetch.
  const usesXhr = options.fetch === undefined && "XMLHttpRequest" in globalThis;
  const closing = new AbortController();
  const http = untilClosed(createHttp(service), closing.signal);
  const { call } = http;
  const tasks = createRecords(call, "task", schemas.task as () => Promise<z.ZodType<Task>>);
  const steps = createRecords(call, "step", schemas.step as () => Promise<z.ZodType<Step>>);
  const jobs = createRecords(call, "job", schemas.job as () => Promise<z.ZodType<Job>>);
  const connections = createRecords(call, "connection", Connection);
  const keys = createRecords(call, "key", ApiKey);
  const uploads = createRemoteUploads(call, usesXhr ? null : fetch);

  const read = async (id: string, more: Pick<HttpRequest, "signal" | "patient"> = {}): Promise<AnyRun> =>
    isId("step", id) ? steps.get(id, more) : tasks.get(id, more);
  const watch = createWatch((id, signal) => read(id, { signal, patient: true }), {
    ...POLL_TIMES,
    ...options.poll,
  });

  async function current(run: RunRef): Promise<AnyRun> {
    if (typeof run === "string") return read(run);
    return isFinished(run) ? run : read(run.id);
  }

  const create = createSender(uploads, closing.signal);
  const samples = createRemoteSamples({ call, fetch, create, client: () => client });
  const { on, watch: watchRun, wait } = createWatchMethods(watch, updates);
  const client: RemoteClient = {
    tasks: {
      create: (request, options) =>
        create("task", request as NewTask, options, (body) =>
          tasks.create<never>(body, undefined, options?.idempotencyKey),
        ),
      get: tasks.get,
      list: tasks.list,
      each: tasks.each,
      cancel: (id) => tasks.act(id, "cancel"),
      retry: (id) => tasks.act(id, "retry", { creates: true }),
      delete: tasks.delete,
      wait,
    },
    steps: {
      create: (request, options) =>
        create("step", request as NewStep, options, (body) =>
          steps.create<never>(body, undefined, options?.idempotencyKey),
        ),
      get: steps.get,
      list: steps.list,
      each: steps.each,
      cancel: (id) => steps.act(id, "cancel"),
      delete: steps.delete,
      wait,
    },
    jobs: {
      create: (request, options) =>
        create("task", request, options, (body) =>
          jobs.create<Job>(body, undefined, options?.idempotencyKey),
        ),
      get: jobs.get,
      list: jobs.list,
      each: jobs.each,
      cancel: (id) => jobs.act(id, "cancel"),
      delete: jobs.delete,
      watch: (job, options) => watchJob(jobs.get, client.watch<Task>, job, options),
      wait: (job, options) => waitForJob(client.tasks.wait, jobs.get, job, options),
    },
    connections: {
      create: (request) => connections.create(request),
      get: connections.get,
      list: connections.list,
      each: connections.each,
      update: connections.update,
      test: (id, body) => connections.act(id, "test", { body }, ConnectionTest),
      sign: (id, body) => connections.act(id, "sign", { body }, SignedRequest),
      async reencrypt() {
        return (await call({ method: "POST", path: "/connections/reencrypt" }, Reencryption)).value;
      },
      delete: connections.delete,
    },
    uploads,
    images: {
      sign: async (body) => (await call({ method: "POST", path: "/images", body }, schemas.imageUrl)).value,
    },
    webhooks: createRemoteWebhooks(call),
    keys: {
      create: (request) => keys.create(request, NewApiKey),
      get: keys.get,
      list: keys.list,
      each: keys.each,
      roll: (id, body = {}) => keys.act(id, "roll", { body }, NewApiKey),
      revoke: keys.delete,
    },
    service: {
      health: async () => (await call({ method: "GET", path: "/health" }, Health)).value,
      metrics: async () => (await http.open({ method: "GET", path: "/metrics" })).text(),
      async document() {
        const path = "/openapi.json";
        return (await call({ method: "GET", path }, z.record(z.string(), z.unknown()))).value;
      },
    },
    run: (request, options) => runTask(client, request, options),
    probe: (input, options) => probeInput(client, input, options),
    entries: (input, options) => probeEntries(client, input, options),
    estimate: (request, options) => samples.estimate(request as NewSample, options),
    preview: (request, options) => samples.preview(request as NewPreview, options),
    filmstrip: samples.filmstrip,
    on,
    watch: watchRun,
    output: async (run) => createRemoteOutput(outputSource(await current(run)), fetch, readError),
    close,
    [Symbol.asyncDispose]: close,
  };
  return client;

  function updates(id: string, signal?: AbortSignal): AsyncGenerator<Update<AnyRun>, void> {
    return isId("step", id) ? updatesOf(watch, id, signal) : follow(id, signal);
  }

  async function* follow(id: string, signal?: AbortSignal): AsyncGenerator<Update<AnyRun>, void> {
    signal?.throwIfAborted();
    const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
    yield* followTask(http, pathOf("task", id), either);
  }

  async function close(): Promise<void> {
    closing.abort(errors.clientClosed());
    watch.close();
  }
}

type Create = ReturnType<typeof createSender>;

/** Creates the function that uploads the files of a request and posts it with their URLs. */
function createSender(uploads: Uploads, closed: AbortSignal) {
  return async function create<T>(
    object: "task" | "step",
    request: NewTask | NewStep | NewJob,
    options: CreateOptions | undefined,
    post: (body: unknown) => Promise<T>,
    keepsFiles = true,
  ): Promise<T> {
    closed.throwIfAborted();
    const { request: body, file, extra } = await readInput(object, request);
    if (!file && extra.size === 0) return post(body);
    const uploaded: Upload[] = [];
    const send = async (
      param: string,
      each: Blob | FileSystemFileHandle,
      sendOptions: CreateOptions | undefined,
    ) => {
      const key = options?.idempotencyKey;
      const keyOfFile = key === undefined ? {} : { idempotencyKey: await fileKey(key, param) };
      const upload = await uploads.send(each, { ...sendOptions, ...keyOfFile });
      uploaded.push(upload);
      return upload.url;
    };
    const discard = () => Promise.all(uploaded.map(({ id }) => uploads.delete(id).catch(() => {})));
    try {
      const urls = new Map<string, string>();
      for (const [param, each] of extra) {
        urls.set(param, await send(param, each, options?.signal && { signal: options.signal }));
      }
      const withUrls = mapExtraInputs(body as object, (url, _, param) => urls.get(param) ?? url);
      if (!file) return await post(withUrls);
      const url = await send("input", file, options);
      const { input } = body as { input: object | null };
      return await post({ ...withUrls, input: object === "task" ? url : { ...input, url } });
    } catch (thrown) {
      // After a transient failure, or an earlier request with the same key, a record may exist and use the files.
      const { retryable, kind } = toMediaError(thrown);
      const mayBeUsed = retryable || kind === "idempotency_mismatch";
      if (keepsFiles && !mayBeUsed) await discard();
      throw thrown;
    } finally {
      if (!keepsFiles) await discard();
    }
  };
}

async function fileKey(key: string, param: string): Promise<string> {
  const own = `${key}.${param}`;
  return own.length > IDEMPOTENCY_KEY_MAX ? sha256Hex(new TextEncoder().encode(own)) : own;
}

interface SampleTools extends Pick<Http, "call"> {
  fetch: Fetch;
  create: Create;
  client(): RemoteClient;
}

/** Creates the methods that request samples, for which the service keeps no task. */
function createRemoteSamples({ call, fetch, create, client }: SampleTools) {
  async function* estimate(
    { input, kind, options }: NewSample,
    { signal }: ReadOptions = {},
  ): AsyncGenerator<OutputEstimate, void> {
    signal?.throwIfAborted();
    const request = { input, kind, ...(options && { options }) } as NewTask;
    const post = async (body: unknown) =>
      (await call({ method: "POST", path: "/estimates", body, signal, repeats: true }, schemas.estimate))
        .value;
    yield await create("task", request, signal && { signal }, post, false);
  }

  async function* filmstrip(
    input: NewTask["input"],
    options: FilmstripOptions = {},
  ): AsyncGenerator<FilmstripPicture, void> {
    const { taskFilmstrip } = await import("./filmstrip.ts");
    const { signal } = options;
    yield* taskFilmstrip(client(), input, options, (url, source) =>
      createRemoteOutput({ ...source, url }, fetch, readError).blob(signal && { signal }),
    );
  }

  let previewing: AbortController | null = null;

  async function preview(
    { input, kind, options, at, view }: NewPreview,
    { signal }: ReadOptions = {},
  ): Promise<Preview> {
    const own = new AbortController();
    previewing?.abort(errors.previewReplaced());
    previewing = own;
    const either = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
    either.throwIfAborted();
    if (at !== undefined && !isMoment(at)) throw errors.momentInvalid();
    if (view && !isView(view)) throw errors.viewInvalid();
    const request = { input, kind, ...(options && { options }), ...(at !== undefined && { at }) } as NewTask;
    const post = async (body: unknown) =>
      (
        await call(
          { method: "POST", path: "/previews", body, signal: either, repeats: true },
          schemas.preview,
        )
      ).value;
    const { original, output, ...facts } = await create("task", request, { signal: either }, post, false);
    return { original: readDataUrl(original), output: readDataUrl(output), ...facts };
  }

  return { estimate, preview, filmstrip };
}

function untilClosed({ call, open }: Http, closed: AbortSignal): Http {
  return {
    async call(request, schema) {
      closed.throwIfAborted();
      const either = request.signal ? AbortSignal.any([request.signal, closed]) : closed;
      return call(request, await untilAborted(loadSchema(schema), either));
    },
    async open(request) {
      closed.throwIfAborted();
      return open(request);
    },
  };
}

function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") throw errors.baseUrlNotHttp();
  if (url.username || url.password || url.search || url.hash) throw errors.baseUrlNotBare();
  return url.href.replace(/\/+$/, "");
}

// The platform's error for a malformed header would contain the key.
function parseKey(key: string): string {
  if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) return key;
  throw errors.apiKeyMalformed();
}

// Three heartbeats of the service.
const SILENT_MS = 45_000;

/**
 * Yields the updates of a task as the service sends them, until it is finished. Reconnects after a lost connection, however long the
 * service is away, and resumes after the last event received. Rejects with `task_not_found`, or with the signal's reason.
 */
async function* followTask(
  { call, open }: Http,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Update<TaskRecord>, void> {
  let last: Update<TaskRecord> | null = null;
  let lastId = "";
  const type = await untilAborted(loadSchema(schemas.update), signal);
  for (let failures = 1; ; failures++) {
    const headers = { Accept: "text/event-stream", ...(lastId !== "" && { "Last-Event-ID": lastId }) };
    const response = await open({ method: "GET", path: `${path}/events`, headers, signal, patient: true });
    // A 204 means that the service has sent the final event, even if it did not arrive.
    if (response.status === 204 || !response.body) {
      const { value } = await call({ method: "GET", path, signal, patient: true }, schemas.task);
      return yield updateOf(value, last);
    }
    try {
      for await (const { event, id, data } of readEvents(response.body, SILENT_MS)) {
        if (event !== "update") continue;
        const update = parseResponse(data, type);
        last = { ...update, error: update.record.error };
        lastId = id;
        failures = 0;
        yield last;
        if (isFinished(last.record)) return;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof MediaError) throw thrown;
    }
    if (failures > 0) await sleep(pauseMs(failures), signal);
  }
}
