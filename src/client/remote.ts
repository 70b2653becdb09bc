import { z } from "zod";
import { Connection, ConnectionTest, Reencryption, SignedRequest } from "../core/connection.ts";
import { MediaError, toMediaError } from "../core/errors.ts";
import { isId } from "../core/ids.ts";
import { ApiKey, NewApiKey } from "../core/key.ts";
import { Step } from "../core/step.ts";
import { Task } from "../core/task.ts";
import { isFinished } from "../core/transitions.ts";
import type { CreateOptions, NewStep, NewTask, RemoteClient, RunRef, Update } from "./client.ts";
import { followTask } from "./follow-task.ts";
import { type Ask, createHttp, type Fetch, type Http } from "./http.ts";
import { outputSource } from "./output-source.ts";
import { readInput } from "./read-media.ts";
import { createRemoteOutput } from "./remote-output.ts";
import { createRemoteUploads } from "./remote-uploads.ts";
import { createRemoteWebhooks } from "./remote-webhooks.ts";
import { createRecords, pathOf } from "./rest.ts";
import { updatesOf } from "./updates.ts";
import { waitFor } from "./wait.ts";
import { createWatch, POLL_TIMES, type PollTimes } from "./watch.ts";
import { closedError } from "./watchers.ts";

/** Options of {@link createRemoteClient}. */
export interface RemoteClientOptions {
  /** URL of the service, such as `https://media.example`. */
  baseUrl: string;
  /** Sent to the service only, never with requests for media. */
  apiKey: string;
  /** Default: the platform's own. */
  fetch?: Fetch;
  /** How often watched runs are polled. */
  poll?: Partial<PollTimes>;
}

const Health = z.object({ status: z.literal("ok") });

/** Creates the client of a service over its HTTP API, in a page, a worker or Node; throws `request_invalid` for a malformed base URL, `token_invalid` for a malformed key. */
export function createRemoteClient(options: RemoteClientOptions): RemoteClient {
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const service = { base_url: parseBaseUrl(options.baseUrl), api_key: parseKey(options.apiKey), fetch };
  // XMLHttpRequest reports upload progress; a caller's own fetch is never bypassed.
  const sendsItself = options.fetch === undefined && "XMLHttpRequest" in globalThis;
  const over = new AbortController();
  const http = untilClosed(createHttp(service), over.signal);
  const { call } = http;
  const tasks = createRecords(call, "task", Task);
  const steps = createRecords(call, "step", Step);
  const connections = createRecords(call, "connection", Connection);
  const keys = createRecords(call, "key", ApiKey);
  const uploads = createRemoteUploads(call, sendsItself ? null : fetch);

  const read = async (id: string, more: Partial<Ask> = {}): Promise<Task | Step> =>
    isId("step", id) ? steps.get(id, more) : tasks.get(id, more);
  const watch = createWatch((id, signal) => read(id, { signal, patient: true }), {
    ...POLL_TIMES,
    ...options.poll,
  });

  async function current(run: RunRef): Promise<Task | Step> {
    if (typeof run === "string") return read(run);
    return isFinished(run) ? run : read(run.id);
  }

  // Uploads the caller's file first, and removes it again when the record cannot be created.
  async function create<T>(
    object: "task" | "step",
    given: NewTask | NewStep,
    options: CreateOptions | undefined,
    make: (request: unknown) => Promise<T>,
  ): Promise<T> {
    over.signal.throwIfAborted();
    const { request, file } = await readInput(object, given);
    if (!file) return make(request);
    const { id, url } = await uploads.send(file, options);
    const { input } = request as { input: object | null };
    try {
      return await make({ ...(request as object), input: object === "task" ? url : { ...input, url } });
    } catch (thrown) {
      // After a transient failure the record may exist all the same.
      if (!toMediaError(thrown).retryable) await uploads.delete(id).catch(() => {});
      throw thrown;
    }
  }

  return {
    tasks: {
      create: (request, options) => create("task", request as NewTask, options, tasks.create<Task>),
      get: (id) => tasks.get(id),
      list: tasks.list,
      each: tasks.each,
      cancel: (id) => tasks.act(id, "cancel"),
      retry: (id) => tasks.act(id, "retry", { creates: true }),
      delete: tasks.delete,
    },
    steps: {
      create: (request, options) => create("step", request as NewStep, options, steps.create<Step>),
      get: (id) => steps.get(id),
      list: steps.list,
      each: steps.each,
      cancel: (id) => steps.act(id, "cancel"),
      delete: steps.delete,
    },
    connections: {
      create: (request) => connections.create(request),
      get: (id) => connections.get(id),
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
    webhooks: createRemoteWebhooks(call),
    keys: {
      create: (request) => keys.create(request, NewApiKey),
      get: (id) => keys.get(id),
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
    on<T extends Task | Step>(run: T | string, _: "update", listener: (update: Update<T>) => void) {
      // The id of a task leads to a task, that of a step to a step.
      const update = listener as (update: Update<Task | Step>) => void;
      return watch.add(idOf(run), { update, fail() {} });
    },
    events<T extends Task | Step>(run: T | string, given: { signal?: AbortSignal } = {}) {
      const id = idOf(run);
      // Only tasks have events at the service.
      const events = isId("step", id) ? updatesOf(watch, id, given.signal) : follow(id, given.signal);
      return events as AsyncGenerator<Update<T>, void>;
    },
    wait: <T extends Task | Step>(run: T | string, given: { signal?: AbortSignal } = {}) =>
      waitFor(watch, run, given.signal) as Promise<T>,
    output: async (run) => createRemoteOutput(outputSource(await current(run)), fetch),
    async close() {
      over.abort(closedError());
      watch.close();
    },
  };

  async function* follow(id: string, signal?: AbortSignal): AsyncGenerator<Update<Task>, void> {
    signal?.throwIfAborted();
    const either = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
    yield* followTask(http, pathOf("task", id), either);
  }
}

// Requests under way finish; new ones are refused.
function untilClosed({ call, open }: Http, closed: AbortSignal): Http {
  return {
    async call(ask, schema) {
      closed.throwIfAborted();
      return call(ask, schema);
    },
    async open(ask) {
      closed.throwIfAborted();
      return open(ask);
    },
  };
}

function idOf(run: RunRef): string {
  return typeof run === "string" ? run : run.id;
}

function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  const param = "baseUrl";
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw new MediaError("request_invalid", "baseUrl must be a URL that starts with http:// or https://.", {
      param,
    });
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new MediaError("request_invalid", "baseUrl must hold no user, password, query or fragment.", {
      param,
    });
  }
  return url.href.replace(/\/+$/, "");
}

// Checked here, as the platform's error for a malformed header would contain it.
function parseKey(key: string): string {
  if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new MediaError("token_invalid", "apiKey must be the text of a key, without spaces.", {
    param: "apiKey",
  });
}
