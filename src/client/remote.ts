import { z } from "zod";
import { Connection, ConnectionTest, SignedRequest } from "../core/connection.ts";
import { MediaError } from "../core/errors.ts";
import { isId } from "../core/ids.ts";
import { Step } from "../core/step.ts";
import { Task } from "../core/task.ts";
import type { ListOptions, Page, RemoteClient, RunRef, Update } from "./client.ts";
import { type Ask, type Call, createCall, type Fetch } from "./http.ts";
import { outputSource } from "./output-source.ts";
import { createRemoteOutput } from "./remote-output.ts";
import { waitFor } from "./wait.ts";
import { createWatch, POLL_TIMES, type PollTimes } from "./watch.ts";

/** How a client of the service is made. */
export interface RemoteClientOptions {
  /** Where the service is, such as `https://media.example`. */
  baseUrl: string;
  /** Goes to the service alone, never to where media are. */
  apiKey: string;
  /** Default the platform's own. */
  fetch?: Fetch;
  /** How often a run that is watched is asked after. */
  poll?: Partial<PollTimes>;
}

const FOLDERS = { task: "/tasks", step: "/steps", connection: "/connections" } as const;

type Sort = keyof typeof FOLDERS;

/** Builds a {@link RemoteClient} of a service over its HTTP API, in a page, a worker or Node; throws `request_invalid` for what is no base URL, `token_invalid` for what can be no key. */
export function createRemoteClient(options: RemoteClientOptions): RemoteClient {
  const fetch: Fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const service = { base_url: parseBaseUrl(options.baseUrl), api_key: parseKey(options.apiKey), fetch };
  const send = createCall(service);
  const watch = createWatch((id, signal) => read(id, { signal, patient: true }), {
    ...POLL_TIMES,
    ...options.poll,
  });
  let closed = false;

  const call: Call = async (ask, schema) => {
    if (closed) throw new MediaError("service_unavailable", "The client is closed.", { retryable: false });
    return send(ask, schema);
  };
  const get = async <T>(path: string, schema: z.ZodType<T>, more: Partial<Ask> = {}) =>
    (await call({ method: "GET", path, ...more }, schema)).value;
  const post = async <T>(path: string, schema: z.ZodType<T>, body?: unknown, creates = false) =>
    (await call({ method: "POST", path, body, creates }, schema)).value;
  const read = async (id: string, more: Partial<Ask> = {}): Promise<Task | Step> =>
    isId("step", id) ? get(pathOf("step", id), Step, more) : get(pathOf("task", id), Task, more);

  async function remove(sort: Sort, id: string): Promise<void> {
    await call({ method: "DELETE", path: pathOf(sort, id) }, z.null());
  }

  async function list<T>(sort: Sort, schema: z.ZodType<T>, asked: ListOptions = {}): Promise<Page<T>> {
    const given = Object.entries(asked).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    const path = query.size > 0 ? `${FOLDERS[sort]}?${query}` : FOLDERS[sort];
    const { value, headers } = await call({ method: "GET", path }, z.array(schema));
    return { records: value, more: headers.get("Has-More") === "true" };
  }

  async function current(run: RunRef): Promise<Task | Step> {
    if (typeof run === "string") return read(run);
    return run.status === "succeeded" ? run : read(run.id);
  }

  return {
    tasks: {
      async create(request) {
        refuseFile(request?.input);
        return post(FOLDERS.task, Task, request, true);
      },
      get: async (id) => get(pathOf("task", id), Task),
      list: (asked) => list("task", Task, asked),
      cancel: async (id) => post(`${pathOf("task", id)}/cancel`, Task),
      retry: async (id) => post(`${pathOf("task", id)}/retry`, Task, undefined, true),
      delete: (id) => remove("task", id),
    },
    steps: {
      async create(request) {
        refuseFile(request?.input);
        return post(FOLDERS.step, Step, request, true);
      },
      get: async (id) => get(pathOf("step", id), Step),
      list: (asked) => list("step", Step, asked),
      cancel: async (id) => post(`${pathOf("step", id)}/cancel`, Step),
    },
    connections: {
      create: (request) => post(FOLDERS.connection, Connection, request, true),
      get: async (id) => get(pathOf("connection", id), Connection),
      list: (asked) => list("connection", Connection, asked),
      async update(id, body) {
        const ask = { method: "PATCH", path: pathOf("connection", id), body } as const;
        return (await call(ask, Connection)).value;
      },
      test: async (id, place) => post(`${pathOf("connection", id)}/test`, ConnectionTest, place),
      sign: async (id, request) => post(`${pathOf("connection", id)}/sign`, SignedRequest, request),
      delete: (id) => remove("connection", id),
    },
    on<T extends Task | Step>(run: T | string, _: "update", listener: (update: Update<T>) => void) {
      // The id of a task leads to a task, that of a step to a step.
      const update = listener as (update: Update<Task | Step>) => void;
      return watch.add(idOf(run), { update, fail() {} });
    },
    wait: <T extends Task | Step>(run: T | string, given: { signal?: AbortSignal } = {}) =>
      waitFor(watch, run, given.signal) as Promise<T>,
    output: async (run) => createRemoteOutput(outputSource(await current(run)), fetch),
    async close() {
      closed = true;
      watch.close();
    },
  };
}

function idOf(run: RunRef): string {
  return typeof run === "string" ? run : run.id;
}

// What is no id is not asked for: it could name another path.
function pathOf(sort: Sort, id: string): string {
  if (isId(sort, id)) return `${FOLDERS[sort]}/${id}`;
  throw new MediaError(`${sort}_not_found`, `There is no ${sort} with that id.`);
}

function refuseFile(input: unknown): void {
  if (typeof input !== "object" || input === null) return;
  if (!("arrayBuffer" in input || "getFile" in input)) return;
  const message = "input must be a URL: the service takes no files yet. A client of the page itself does.";
  throw new MediaError("invalid_input", message, { param: "input" });
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

// Checked here, as a platform's own error about a header would show it.
function parseKey(key: string): string {
  if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new MediaError("token_invalid", "apiKey must be the text of a key, without spaces.", {
    param: "apiKey",
  });
}
