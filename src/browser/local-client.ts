import type {
  Client,
  CreateOptions,
  ListOptions,
  NewPreview,
  NewSample,
  NewStep,
  NewTask,
  Page,
  ReadOptions,
  RunRef,
  Step,
  Task,
  WaitingFile,
} from "../client/client.ts";
import * as clientErrors from "../client/errors.ts";
import { type Job, type Jobs, type NewJob, waitForJob, watchJob } from "../client/jobs.ts";
import { type RequestWithFiles, readInput } from "../client/media-input.ts";
import {
  createWatchMethods,
  eachRecord,
  idOf,
  probeEntries,
  probeInput,
  runTask,
  updatesOf,
} from "../client/methods.ts";
import { createRemoteOutput } from "../client/output.ts";
import { createPace, type Pace, updateOf } from "../client/progress.ts";
import type { UploadProgress } from "../client/update.ts";
import {
  addWatcher,
  dropWatchers,
  hasChanged,
  notifyAll,
  refuseWatcher,
  type Watch,
  type WatchedRun,
} from "../client/watch.ts";
import { type MediaError, toMediaError } from "../media/errors.ts";
import { isFinished } from "../runs/transitions.ts";
import { throttle, untilAborted } from "../util/async.ts";
import * as errors from "./errors.ts";
import { createFileUrls, createLocalOutput, type LocalOutput } from "./local-output.ts";
import {
  type CoreFiles,
  findRuns,
  type LocalFile,
  type LocalUsage,
  type MediaApi,
  type MediaEvent,
  type MediaSettings,
  mayHaveRuns,
  type RecordType,
  type Run,
  type RunState,
  type ThreadedCoreFiles,
} from "./media-api.ts";
import { createPageSamples } from "./page-samples.ts";
import { answerOf, callOver, createLazyWorker } from "./rpc.ts";
import { createPageConnections, type LocalConnection } from "./sign-requests.ts";

const NAME = "framewright";
const WEEK = 604_800;
const MAX_INPUT_BYTES = 268_435_456;

/**
 * Creates a client that runs on the page's own machine: a media worker stores tasks in IndexedDB and files in the origin
 * private file system, and runs them with the available encoders. It starts with the first call that needs it, or at once
 * when an earlier visit left runs. A run resumes when its page is opened again; one tab executes it, and all tabs observe it.
 *
 * @example
 * const client = createLocalClient();
 * const { blob } = await client.run({ input: file, kind: "video", options: { width: 1280 } });
 */
export function createLocalClient(options: LocalClientOptions = {}): LocalClient {
  const { fallback, name = NAME } = options;
  const worker = createLazyWorker(() => startWorker(options), openWorker);
  const urls = createFileUrls();
  let follower: Follower | null = null;
  let closed = false;

  const { api, fail } = callOver<MediaApi, MediaEvent>(worker, (event) => {
    if (event.type === "changed") watch.changed(event);
    else if (event.type === "removed") watch.removed(event.id);
    else if (event.type === "follow") follower?.follow(event);
    else if (event.type === "unfollow") follower?.unfollow(event.id, event.remote);
    else if (event.type === "draw") void drawings.draw(event);
    else if (event.type === "undraw") drawings.drop(event.requestId);
    else void sign(event);
  });
  const connections = createPageConnections(options.connections);
  const sign = async ({ requestId, connection, request }: MediaEvent & { type: "sign" }) =>
    api.signed(requestId, await connections.sign(connection, request)).catch(() => {});
  const drawings = createDrawings(api);
  const watch = createChangeWatch((id) => api.state(typeOf(id), id));
  if (fallback) follower = followTasks(fallback, api);
  const closing = new AbortController();
  if (!pageFault())
    findRuns(name, closing.signal).then(
      (hasRuns) => hasRuns && worker.start(),
      () => {},
    );

  function openWorker(started: Worker): void {
    let opened = false;
    started.addEventListener("error", (event) => {
      if (opened) return;
      event.preventDefault();
      fail(errors.workerUnstarted({ reason: event.message ?? "its file could not be loaded" }));
    });
    api.open({ ...settingsOf(options), connections: connections.settings }).then(
      () => {
        opened = true;
      },
      () => {},
    );
  }

  function checkOpen(): void {
    const fault = closed ? clientErrors.clientClosed() : pageFault();
    if (fault) throw fault;
  }

  async function prepareRequest(
    type: RecordType,
    request: NewTask | NewStep | NewJob,
    { signal }: CreateOptions = {},
  ): Promise<RequestWithFiles> {
    signal?.throwIfAborted();
    checkOpen();
    const prepared = await readInput(type, request);
    void keepStorage(name);
    return prepared;
  }

  async function create(
    type: RecordType,
    run: NewTask | NewStep,
    options: CreateOptions | undefined,
  ): Promise<never> {
    const { request, file, extra } = await prepareRequest(type, run, options);
    return (await api.create(type, request, file, extra)) as never;
  }

  async function createJob(job: NewJob, options: CreateOptions | undefined): Promise<Job> {
    const { request, file, extra } = await prepareRequest("task", job, options);
    return (await api.createJob(request, file, extra)) as Job;
  }

  async function list<T>(type: RecordType | "job", { signal, ...query }: ListOptions): Promise<Page<T>> {
    signal?.throwIfAborted();
    const isPlain = Object.values(query).every((value) => value === undefined);
    if (worker.waits && isPlain && !(await mayHaveRuns(name))) return { records: [], more: false };
    const page: Promise<unknown> = type === "job" ? api.listJobs(query) : api.list(type, query);
    return (await untilAborted(page, signal)) as Page<T>;
  }

  const samples = createPageSamples(api, checkOpen);
  const listTasks = (options: ListOptions = {}) => list<Task>("task", options);
  const listSteps = (options: ListOptions = {}) => list<Step>("step", options);
  const listJobs = (options: ListOptions = {}) => list<Job>("job", options);
  const getJob: Jobs["get"] = async (id, { signal } = {}) =>
    (await untilAborted(api.getJob(id), signal)) as Job;
  const get = async <T>(type: RecordType, id: string, { signal }: ReadOptions = {}) =>
    (await untilAborted(api.get(type, id), signal)) as unknown as T;
  const {
    on,
    watch: watchRun,
    wait,
  } = createWatchMethods(watch, (id, signal) => updatesOf(watch, id, signal));

  const client: LocalClient = {
    tasks: {
      create: (request, options) => create("task", request as NewTask, options),
      get: (id, options) => get<Task>("task", id, options),
      list: listTasks,
      each: (options) => eachRecord(listTasks, options),
      cancel: async (id) => (await api.cancel("task", id)) as unknown as Task,
      retry: async (id) => (await api.retry(id)) as unknown as Task,
      delete: (id) => api.remove("task", id),
      wait,
    },
    steps: {
      create: (request, options) => create("step", request as NewStep, options),
      get: (id, options) => get<Step>("step", id, options),
      list: listSteps,
      each: (options) => eachRecord(listSteps, options),
      cancel: async (id) => (await api.cancel("step", id)) as unknown as Step,
      delete: (id) => api.remove("step", id),
      wait,
    },
    jobs: {
      create: createJob,
      get: getJob,
      list: listJobs,
      each: (options) => eachRecord(listJobs, options),
      watch: (job, options) => watchJob(getJob, client.watch<Task>, job, options),
      wait: (job, options) => waitForJob(wait, getJob, job, options),
      cancel: async (id) => (await api.cancelJob(id)) as Job,
      delete: (id) => api.removeJob(id),
    },
    run: (request, options) => runTask(client, request, options),
    probe: (input, options) => probeInput(client, input, options),
    entries: (input, options) => probeEntries(client, input, options),
    estimate: (request, options) => samples.estimate(request as NewSample, options),
    preview: (request, options) => samples.preview(request as NewPreview, options),
    filmstrip: samples.filmstrip,
    on,
    watch: watchRun,
    async output(run) {
      const id = idOf(run);
      const output = await api.files(id);
      const { remote, source } = output;
      if (remote === null) return createLocalOutput(id, output, urls);
      if (fallback) return { ...(await fallback.output(remote)), source, files: [] };
      return { ...createRemoteOutput(source, (url, init) => fetch(url, init)), files: [] };
    },
    waiting: (run) => api.waiting(idOf(run)),
    async resume(run, file) {
      const id = idOf(run);
      if (!file) await askToRead(await api.handle(id));
      return (await api.resume(id, file ?? null)) as unknown as Task | Step;
    },
    usage: () => api.usage(),
    clear: async ({ everything = false } = {}) => api.clear(everything),
    close,
    [Symbol.asyncDispose]: close,
  };
  return client;

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    closing.abort();
    watch.close();
    follower?.close();
    urls.drop();
    fail(clientErrors.clientClosed());
    worker.terminate();
  }
}

/** Draws vector pictures for the media worker, which has no document. */
function createDrawings(api: MediaApi) {
  const pending = new Set<number>();
  return {
    async draw({ requestId, file, size }: MediaEvent & { type: "draw" }): Promise<void> {
      pending.add(requestId);
      const drawing = await answerOf(
        () => import("./draw-svg.ts"),
        (cause) => errors.drawingUnloaded({ cause }),
      );
      const picture = drawing.error
        ? drawing
        : await drawing.result.drawSvg(file, size, () => !pending.has(requestId));
      pending.delete(requestId);
      await api.drawn(requestId, picture).catch(() => {});
    },
    drop: (requestId: number) => pending.delete(requestId),
  };
}

function startWorker({ name = NAME, workers }: LocalClientOptions): Worker {
  const fault = pageFault();
  if (fault) throw fault;
  const title = `${name} media worker`;
  try {
    // Bundlers look for exactly this expression.
    if (workers === undefined) {
      return new Worker(new URL("./media-worker/media-worker.ts", import.meta.url), {
        type: "module",
        name: title,
      });
    }
    const file = new URL("media-worker.js", new URL(String(workers).replace(/\/*$/, "/"), location.href));
    return new Worker(file, { type: "module", name: title });
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.replace(/\.$/, "") : String(thrown);
    throw errors.workerUnstarted({ reason, cause: thrown });
  }
}

function settingsOf(options: LocalClientOptions): Omit<MediaSettings, "connections"> {
  return {
    name: options.name ?? NAME,
    prefer: options.prefer ?? "quality",
    encoderWorkers: options.encoderWorkers ?? null,
    core: options.core ? absolute(options.core) : null,
    threadedCore: options.threadedCore ? absolute(options.threadedCore) : null,
    avif: options.avif === undefined ? null : new URL(options.avif, location.href).href,
    host: location.hostname,
    allowPrivate: options.allowPrivate ?? false,
    keepSeconds: options.keepSeconds ?? WEEK,
    keepInputBytes: options.keepInputBytes ?? MAX_INPUT_BYTES,
    fallback: options.fallback !== undefined,
  };
}

function typeOf(id: string): RecordType {
  return id.startsWith("step_") ? "step" : "task";
}

// A worker would resolve a relative URL against its own file.
function absolute<T extends CoreFiles>(files: T): T {
  const absoluteFiles = { ...files };
  for (const name of ["wasm", "glue", "fast", "vp9", "font", "fonts", "threads"] as const) {
    const url: unknown = Reflect.get(files, name);
    if (typeof url === "string") Reflect.set(absoluteFiles, name, new URL(url, location.href).href);
  }
  return absoluteFiles;
}

const REQUIRED = ["Worker", "indexedDB"] as const;

/** Returns the reason why no task can run in this environment, such as a server that renders the page; null in a page. */
function pageFault(): MediaError | null {
  const names = REQUIRED.filter((name) => !Reflect.get(globalThis, name));
  if (names.length > 0) return errors.notPage({ names });
  return globalThis.isSecureContext === false ? errors.insecurePage() : null;
}

interface PageStorage {
  persisted?(): Promise<boolean>;
  persist?(): Promise<boolean>;
}

/** Asks the browser once to keep its storage even under disk pressure; some browsers ask the visitor. Never rejects. */
async function keepStorage(name: string): Promise<void> {
  try {
    const memory: { getItem(key: string): string | null; setItem(key: string, value: string): void } =
      Reflect.get(globalThis, "localStorage");
    const key = `${name} asked to keep storage`;
    if (memory.getItem(key)) return;
    memory.setItem(key, "yes");
    const storage: PageStorage = navigator.storage;
    if (!(await storage.persisted?.())) await storage.persist?.();
  } catch {
    // Storage is not allowed.
  }
}

/**
 * Asks the visitor to allow reading a file again; rejects with `input_unreachable` without a click, or when the visitor
 * refuses.
 */
async function askToRead(handle: FileSystemFileHandle | null): Promise<void> {
  const ask = handle && (Reflect.get(handle, "requestPermission") as (() => Promise<string>) | undefined);
  if (!ask) return;
  const isGranted = await ask.call(handle).then(
    (state) => state === "granted",
    (thrown: unknown) => {
      if (!(thrown instanceof DOMException) || thrown.name !== "SecurityError") return false;
      throw errors.clickMissing({ name: handle.name, cause: thrown });
    },
  );
  if (!isGranted) throw errors.permissionDenied({ name: handle.name });
}

/** Options of `createLocalClient`; all of them have defaults. */
export interface LocalClientOptions {
  /**
   * Name of the database and of the folder in the browser's storage; clients of the same name, in all tabs of an origin, share
   * their tasks.
   *
   * @default `framewright`
   */
  name?: string;
  /**
   * Prefers better and smaller files, or faster encodes, where there is a choice.
   *
   * @default `quality`
   */
  prefer?: "quality" | "speed";
  /**
   * Runs tasks that no encoder in the page can run: the client creates the task there as well, and the record here mirrors it. The
   * fallback must be able to read an input URL; a file is uploaded to it, with `upload` on the updates. When the fallback cannot do
   * the work either, or the run is a standalone step, the `fallback` of the error tells why.
   */
  fallback?: Client;
  /**
   * URL of the folder that serves the package's `dist/workers`, beside `dist/core`, on the page's own origin. For bundlers
   * that do not copy the files named by `new URL(…, import.meta.url)`, such as esbuild and Rollup.
   *
   * @default where the bundler put them
   */
  workers?: string | URL;
  /**
   * S3 storage for outputs, and for inputs `s3://<bucket>/<key>`; tasks use the default connection. Connections are not stored: a
   * reopened page passes them again, and uploads resume where they stopped. The bucket's CORS rules must allow the page's origin
   * and expose ETag and Content-Range.
   */
  connections?: readonly LocalConnection[];
  /**
   * Maximum number of encoder workers.
   *
   * @default one per processor, fewer when memory is short
   */
  encoderWorkers?: number;
  /**
   * URLs of ffmpeg's wasm core.
   *
   * @default those of the package
   */
  core?: CoreFiles;
  /**
   * URLs of `@ffmpeg/core-mt`, with which a cross-origin isolated page encodes h265.
   *
   * @default none
   */
  threadedCore?: ThreadedCoreFiles;
  /**
   * URL of `@jsquash/avif/codec/enc/avif_enc.wasm`, plain or gzipped.
   *
   * @default that of the package
   */
  avif?: string;
  /**
   * Allows input URLs on private hosts; those on the page's own host are always allowed, on any port.
   *
   * @default false
   */
  allowPrivate?: boolean;
  /**
   * Seconds after which outputs are deleted, and unfinished runs whose file is gone are cancelled; their records stay.
   *
   * @default 604_800, a week
   */
  keepSeconds?: number;
  /**
   * Size limit in bytes up to which a file without a handle is copied into the browser's storage, once per run, so that the run
   * survives its page. Use 0 for a page that keeps the files itself and passes them to {@link LocalClient.resume}.
   *
   * @default 268_435_456
   */
  keepInputBytes?: number;
}

/** Tasks and steps on the page's own machine. */
export interface LocalClient extends Client {
  /** Returns the bytes of a run that succeeded; rejects with `media_not_found` when it has none. */
  output(run: RunRef): Promise<LocalOutput>;
  /**
   * Returns the file that a run waits for because it became unreadable, as after a reload; null when it waits for none. Such a run
   * stays `queued` or `processing`, sends an update when it begins to wait, and continues with {@link LocalClient.resume}. Handles
   * survive a reload, and so do files of up to `keepInputBytes`, which are copied into the browser's storage; larger files last as
   * long as their page.
   */
  waiting(run: RunRef): Promise<WaitingFile | null>;
  /**
   * Resumes a run that waits for its file, from the last finished durable step. Without `file`, the browser asks the visitor
   * to allow reading the original again, which needs a click.
   *
   * @throws `invalid_input` for a different file, `input_unreachable` for one that cannot be read or that the visitor does not
   * allow.
   */
  resume(run: RunRef, file?: LocalFile): Promise<Task | Step>;
  /** Counts the bytes that the library stores in this browser under the client's name, and those of ffmpeg's core. */
  usage(): Promise<LocalUsage>;
  /**
   * Removes every finished task and step with its files, and any leftovers; resolves to the remaining usage. With
   * `everything` it also cancels and removes unfinished runs, and removes ffmpeg's cached core.
   */
  clear(options?: { everything?: boolean }): Promise<LocalUsage>;
}

/** Follows tasks at the fallback for the media worker, which stores their records. */
interface Follower {
  /**
   * Creates the task at the fallback unless it exists, and reports its state to the worker until it is finished, or the error that
   * ends the watch.
   */
  follow(event: MediaEvent & { type: "follow" }): Promise<void>;
  unfollow(id: string, remote: string | null): Promise<void>;
  close(): void;
}

interface FollowedTask {
  /** The task's id at the fallback; null until it exists. */
  remote: string | null;
  /** Stops the upload of its file. */
  over: AbortController;
  stop(): void;
}

function followTasks(fallback: Client, api: MediaApi): Follower {
  const followed = new Map<string, FollowedTask>();

  const cancel = (remote: string) => fallback.tasks.cancel(remote).catch(() => {});

  async function fail(id: string, thrown: unknown): Promise<void> {
    const { kind, message, retryable } = toMediaError(thrown, "service_unavailable");
    await api.followed(id, { error: { kind, message, retryable } });
  }

  function watch(id: string, remote: string): () => void {
    const stops = [
      fallback.on<Task>(remote, "update", ({ record }) => {
        if (isFinished(record)) followed.delete(id);
        api.followed(id, record).catch(() => {});
      }),
      fallback.on(remote, "error", (thrown) => {
        followed.delete(id);
        void fail(id, thrown).catch(() => {});
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  return {
    async follow({ id, request, remote, file }) {
      const own: FollowedTask = { remote, over: new AbortController(), stop() {} };
      const { signal } = own.over;
      const report = (upload: UploadProgress) => api.sending(id, upload).catch(() => {});
      const throttledReport = throttle(report);
      let reported = Promise.resolve();
      const sending: CreateOptions = {
        signal,
        // A page may end before it has stored the id of the task there; its next visit then gets the same task.
        idempotencyKey: id,
        onProgress(sent, size) {
          reported = (sent === size ? report : throttledReport)({ sent, size });
        },
      };
      const create = async () => {
        const withFile = { ...(request as NewTask), ...(file && { input: file }) };
        const task = await fallback.tasks.create(withFile, sending);
        await reported;
        own.remote = task.id;
        if (signal.aborted) await cancel(task.id);
        else await api.followed(id, task);
        return task.id;
      };
      followed.set(id, own);
      try {
        const remoteId = remote ?? (await create());
        if (!signal.aborted) own.stop = watch(id, remoteId);
      } catch (thrown) {
        if (!signal.aborted) await fail(id, thrown).catch(() => {});
      }
    },
    async unfollow(id, remote) {
      const task = followed.get(id);
      followed.delete(id);
      task?.over.abort();
      task?.stop();
      const remoteId = remote ?? task?.remote;
      if (remoteId) await cancel(remoteId);
    },
    close() {
      for (const { over, stop } of followed.values()) {
        over.abort();
        stop();
      }
      followed.clear();
    },
  };
}

/** A {@link Watch} that receives changes and does not poll. */
export interface ChangeWatch extends Watch<Run> {
  /** Receives the state of any run after a change. */
  changed(state: RunState): void;
  removed(id: string): void;
}

/** Creates a {@link ChangeWatch}; `read` returns the state of a run for its first watcher. */
export function createChangeWatch(read: (id: string) => Promise<RunState>): ChangeWatch {
  const runs = new Map<string, Changing>();
  let closed = false;

  function take(id: string, { record, choice, waiting, upload }: RunState): void {
    const run = runs.get(id);
    const before = run?.last;
    if (!run || (before && record.updated_at < before.record.updated_at)) return;
    if (before && isFinished(before.record)) return;
    run.last = {
      ...updateOf(record, before ?? null, choice, run.pace),
      waiting: waiting ?? null,
      upload: upload ?? null,
    };
    notifyAll(run);
    if (isFinished(record)) runs.delete(id);
  }

  function end(id: string, error: MediaError): void {
    const run = runs.get(id);
    runs.delete(id);
    if (run) dropWatchers(run, error);
  }

  function follow(id: string): Changing {
    const run: Changing = { watchers: new Set(), last: null, pace: createPace("sight") };
    runs.set(id, run);
    read(id).then(
      (state) => run.last === null && take(id, state),
      (thrown: unknown) => runs.get(id) === run && end(id, toMediaError(thrown)),
    );
    return run;
  }

  return {
    add(id, watcher) {
      if (closed) return refuseWatcher(watcher);
      const run = runs.get(id) ?? follow(id);
      return addWatcher(run, watcher, () => runs.get(id) === run && runs.delete(id));
    },
    changed(state) {
      const { record } = state;
      take(record.id, state);
      for (const step of record.object === "task" ? record.steps : []) {
        const run = runs.get(step.id);
        if (run && hasChanged(step, run.last)) take(step.id, { record: step, choice: null });
      }
    },
    removed(id) {
      end(id, errors.runDeleted({ object: id.startsWith("step_") ? "step" : "task", id }));
    },
    close() {
      closed = true;
      for (const id of [...runs.keys()]) end(id, clientErrors.clientClosed());
    },
  };
}

interface Changing extends WatchedRun<Run> {
  pace: Pace;
}
