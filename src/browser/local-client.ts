import type { Client, ListOptions, NewStep, NewTask, Page, RunRef, Update } from "../client/client.ts";
import { eachRecord } from "../client/each.ts";
import { createRemoteOutput } from "../client/remote-output.ts";
import { updatesOf } from "../client/updates.ts";
import { waitFor } from "../client/wait.ts";
import { closedError } from "../client/watchers.ts";
import { MediaError } from "../core/errors.ts";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";
import { findRuns, mayHaveRuns } from "./earlier-runs.ts";
import { createFollower, type Follower } from "./follow.ts";
import { keepStorage } from "./keep-storage.ts";
import { createLateWorker } from "./late-worker.ts";
import { createFileUrls, createLocalOutput, type LocalOutput } from "./local-output.ts";
import type {
  CoreFiles,
  LocalFile,
  MediaApi,
  MediaEvent,
  MediaSettings,
  Run,
  Sort,
  ThreadedCoreFiles,
  WaitingFile,
} from "./media-api.ts";
import { callOver } from "./rpc.ts";
import { createPageConnections, type LocalConnection } from "./sign-requests.ts";
import { createChangeWatch } from "./watch-changes.ts";

/** How a client of the page's own machine is made; everything has a default. */
export interface LocalClientOptions {
  /** Name of the database and of the folder in the browser's storage; clients of one name, in all tabs of an origin, share their tasks. Default `framewright`. */
  name?: string;
  /** Whether the smaller and better file or the sooner one is wanted, where there is a choice; default `quality`. */
  prefer?: "quality" | "speed";
  /** Does what no encoder here can: the task is then created there too, and its record follows the one there. Inputs must be URLs that it can read. */
  fallback?: Client;
  /**
   * S3 storage for outputs and inputs `s3://<bucket>/<key>`, of which the default one serves tasks. Nothing of it is stored: a page that is opened
   * again gives it again, and uploads go on where they stopped. The bucket's CORS rules must let the page in and expose ETag and Content-Range.
   */
  connections?: readonly LocalConnection[];
  /** Encoder workers at most; default as many as the machine has processors, fewer where memory is short. */
  encoder_workers?: number;
  /** Where the files of ffmpeg's wasm core are; default those of the package. */
  core?: CoreFiles;
  /** Where those of `@ffmpeg/core-mt` are, by which a cross-origin isolated page encodes h265; default nowhere. */
  core_mt?: ThreadedCoreFiles;
  /** URL of `@jsquash/avif/codec/enc/avif_enc.wasm`; default that of the package. */
  avif?: string;
  /** Lets URLs of private hosts be inputs; those of the page's own host always may. Default false. */
  allow_private?: boolean;
  /** Seconds after which outputs are cleared; default 604 800, a week. Their records stay. */
  keep_seconds?: number;
  /**
   * Bytes up to which a visitor's file without a handle is copied into the browser's storage, once for each run, so that the run outlives its
   * page; default 268 435 456. 0 is for a page that keeps the files itself, and gives them again by {@link LocalClient.resume}.
   */
  keep_input_bytes?: number;
}

/** Tasks and steps on the page's own machine. */
export interface LocalClient extends Client {
  /** The bytes of a run that succeeded; rejects with `media_not_found` when it has none. */
  output(run: RunRef): Promise<LocalOutput>;
  /**
   * Tells which file a run waits for that was there when it was created and is not now, as after a reload; null when it waits for none.
   * Such a run stays `queued` or `processing`, an update is told when it begins to wait, and it goes on by {@link LocalClient.resume}. Handles
   * outlive a reload, and so do files of up to `keep_input_bytes`, which are copied into the browser's storage; larger files do as long as their page is open.
   */
  waiting(run: RunRef): Promise<WaitingFile | null>;
  /**
   * Gives a run the file that it waits for, and goes on from the last finished piece of work. Without a file the visitor is asked to allow
   * the old one to be read again, which needs a click. Rejects with `invalid_input` for another file than the one before, with
   * `input_unreachable` for one that cannot be read or is not allowed.
   */
  resume(run: RunRef, file?: LocalFile): Promise<Task | Step>;
}

const NAME = "framewright";
const WEEK = 604_800;
const KEPT_BYTES = 268_435_456;

/**
 * Creates the client of the page's own machine: a media worker keeps tasks in IndexedDB and files in the origin's private file system, and
 * runs them with the encoders that are there. It is loaded by the first call that needs it, or at once where an earlier visit left runs. A run
 * goes on when its page is opened again; of several tabs one runs it and all see it.
 */
export function createLocalClient(options: LocalClientOptions = {}): LocalClient {
  const { fallback, name = NAME } = options;
  const startWorker = () =>
    new Worker(new URL("./media-worker.ts", import.meta.url), {
      type: "module",
      name: `${name} media worker`,
    });
  const worker = createLateWorker(startWorker, openWorker);
  const urls = createFileUrls();
  let follower: Follower | null = null;
  let closed = false;

  const { api, fail } = callOver<MediaApi, MediaEvent>(worker, (event) => {
    if (event.type === "changed") watch.changed(event);
    else if (event.type === "removed") watch.removed(event.id);
    else if (event.type === "follow") follower?.follow(event.id, event.request, event.remote);
    else if (event.type === "unfollow") follower?.unfollow(event.id, event.remote);
    else void sign(event);
  });
  const connections = createPageConnections(options.connections);
  const sign = async ({ asked, connection, request }: MediaEvent & { type: "sign" }) =>
    api.signed(asked, await connections.sign(connection, request)).catch(() => {});
  const watch = createChangeWatch((id) => api.standing(sortOf(id), id));
  if (fallback) follower = createFollower(fallback, api);
  const over = new AbortController();
  // A first visit does without the worker until it is asked for something.
  findRuns(name, over.signal).then((found) => found && worker.start());

  function openWorker(started: Worker): void {
    let opened = false;
    started.addEventListener("error", (event) => {
      // Once it runs, an error is one of its own, and it goes on.
      if (opened) return;
      event.preventDefault();
      const reason = event.message ?? "its file could not be loaded";
      fail(new MediaError("worker_lost", `The media worker could not be started: ${reason}.`));
    });
    api.open({ ...settingsOf(options), connections: connections.settings }).then(
      () => {
        opened = true;
      },
      // Every call says so.
      () => {},
    );
  }

  async function create<T extends Run>(sort: Sort, request: NewTask | NewStep): Promise<T> {
    const input: unknown = request?.input;
    void keepStorage(name);
    if (isFile(input)) return (await api.create(sort, { ...request, input: null }, input)) as T;
    return (await api.create(sort, request, await objectUrlFile(input))) as T;
  }

  async function list<T extends Run>(sort: Sort, asked: ListOptions): Promise<Page<T>> {
    const isPlain = Object.values(asked).every((value) => value === undefined);
    if (worker.waits && isPlain && !(await mayHaveRuns(name))) return { records: [], more: false };
    return (await api.list(sort, asked)) as Page<T>;
  }

  const listTasks = (asked: ListOptions = {}) => list<Task>("task", asked);
  const listSteps = (asked: ListOptions = {}) => list<Step>("step", asked);

  return {
    tasks: {
      create: (request) => create("task", request as NewTask),
      get: async (id) => (await api.get("task", id)) as Task,
      list: listTasks,
      each: (asked) => eachRecord(listTasks, asked),
      cancel: async (id) => (await api.cancel("task", id)) as Task,
      retry: (id) => api.retry(id),
      delete: (id) => api.remove(id),
    },
    steps: {
      create: (request) => create("step", request as NewStep),
      get: async (id) => (await api.get("step", id)) as Step,
      list: listSteps,
      each: (asked) => eachRecord(listSteps, asked),
      cancel: async (id) => (await api.cancel("step", id)) as Step,
    },
    on<T extends Run>(run: T | string, _: "update", listener: (update: Update<T>) => void) {
      // The id of a task leads to a task, that of a step to a step.
      const update = listener as (update: Update<Run>) => void;
      return watch.add(idOf(run), { update, fail() {} });
    },
    events: <T extends Run>(run: T | string, given: { signal?: AbortSignal } = {}) =>
      updatesOf(watch, idOf(run), given.signal) as AsyncGenerator<Update<T>, void>,
    wait: <T extends Run>(run: T | string, given: { signal?: AbortSignal } = {}) =>
      waitFor(watch, run, given.signal) as Promise<T>,
    async output(run) {
      const id = idOf(run);
      const found = await api.files(id);
      if (found.remote === null) return createLocalOutput(id, found, urls);
      const elsewhere = fallback
        ? await fallback.output(found.remote)
        : createRemoteOutput(found.source, (url, init) => fetch(url, init));
      return { ...elsewhere, source: found.source, files: [] };
    },
    waiting: (run) => api.waiting(idOf(run)),
    async resume(run, file) {
      const id = idOf(run);
      if (!file) await askToRead(await api.handle(id));
      return api.resume(id, file ?? null);
    },
    async close() {
      if (closed) return;
      closed = true;
      over.abort();
      watch.close();
      follower?.close();
      urls.drop();
      fail(closedError());
      // Its encoder workers go with it, and its locks.
      worker.terminate();
    },
  };
}

function settingsOf(options: LocalClientOptions): Omit<MediaSettings, "connections"> {
  return {
    name: options.name ?? NAME,
    prefer: options.prefer ?? "quality",
    encoder_workers: options.encoder_workers ?? null,
    core: options.core ? absolute(options.core) : null,
    core_mt: options.core_mt ? absolute(options.core_mt) : null,
    avif: options.avif === undefined ? null : new URL(options.avif, location.href).href,
    host: location.host,
    allow_private: options.allow_private ?? false,
    keep_seconds: options.keep_seconds ?? WEEK,
    keep_input_bytes: options.keep_input_bytes ?? KEPT_BYTES,
    fallback: options.fallback !== undefined,
  };
}

function idOf(run: RunRef): string {
  return typeof run === "string" ? run : run.id;
}

function sortOf(id: string): Sort {
  return id.startsWith("step_") ? "step" : "task";
}

// A worker would read a relative URL from where its own file is.
function absolute<T extends CoreFiles>(files: T): T {
  const made = { ...files };
  for (const name of ["wasm", "glue", "threads"] as const) {
    const url: unknown = Reflect.get(files, name);
    if (typeof url === "string") Reflect.set(made, name, new URL(url, location.href).href);
  }
  return made;
}

function isFile(input: unknown): input is LocalFile {
  return typeof input === "object" && input !== null && ("arrayBuffer" in input || "getFile" in input);
}

// What has a URL of this page alone, such as an output of this client; another one is refused like any unknown scheme.
async function objectUrlFile(input: unknown): Promise<Blob | null> {
  const url: unknown = typeof input === "string" ? input : Reflect.get(Object(input), "url");
  if (typeof url !== "string" || !url.startsWith("blob:")) return null;
  return fetch(url).then(
    (response) => response.blob(),
    () => null,
  );
}

async function askToRead(handle: FileSystemFileHandle | null): Promise<void> {
  const ask = handle && (Reflect.get(handle, "requestPermission") as (() => Promise<string>) | undefined);
  if (!ask || (await ask.call(handle).catch(() => "denied")) === "granted") return;
  throw new MediaError("input_unreachable", "The visitor did not allow the file to be read.", {
    retryable: false,
  });
}
