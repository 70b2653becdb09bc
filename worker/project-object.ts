import { DurableObject, RpcTarget } from "cloudflare:workers";
import { createIds } from "../src/runs/ids.ts";
import type { JobHead } from "../src/runs/job.ts";
import type { ListPage, ListQuery } from "../src/runs/lists.ts";
import type { Step } from "../src/runs/step.ts";
import type { Task } from "../src/runs/task.ts";
import { isFinished } from "../src/runs/transitions.ts";
import { locatorOf } from "./auth/key-ring.ts";
import { createKeyTable, createProjectDirectory } from "./auth/key-table.ts";
import { createUseNotes } from "./auth/project-keys.ts";
import { createConnectionTable } from "./connections/connections.ts";
import { mediaBucket, random } from "./env.ts";
import { createIdempotencyTable } from "./http/idempotency.ts";
import { createJobTable, type ListedJob } from "./jobs/job-table.ts";
import { createQuota, type DayBytes, storedBytes } from "./limits/quota.ts";
import { createUsage, type KeyWindow, type Use } from "./limits/rate-limiter.ts";
import { createLog, logEnd, logFault } from "./log.ts";
import { createMetricTable, type MetricsReport, observeEnd, writePoints } from "./metrics.ts";
import { createRetirement } from "./run/archive.ts";
import { createRunIndex, type RunIndex } from "./run/run-index.ts";
import { serviceSettings } from "./settings.ts";
import type { ChangeSet, DeliveryRequest } from "./webhooks/delivery.ts";
import { createWebhookQueue, type WebhookQueue, type WebhookQueueMethods } from "./webhooks/webhook-queue.ts";

const PRUNE_MS = 3_600_000;
const BATCH_MS = 1000;

/**
 * The database of one project: the index of its tasks and standalone steps, from which lists are read, its jobs, connections, webhooks, quota,
 * metrics and idempotent requests.
 *
 * KV, which mirrors each record, cannot be that index: its lists lag by up to a minute, sort in one direction and filter only by prefix. Here lists
 * are current, sort both ways and filter by state and kind, and a page of 100,000 tasks takes as long as a page of ten. In return, one object limits
 * a project to a few hundred requests a second and 10 GB. Long before that, the oldest finished tasks move to the archive: a project may have any
 * number of tasks, of which the lists hold the newest five million.
 *
 * Its tables are RPC targets, called as `stub.connections.add(…)`: workerd sends the path with the call, in one round trip, and there is no stub to
 * dispose of. Operations that span several tables are methods of the object itself.
 */
export class ProjectObject extends DurableObject<Bindings> {
  readonly #keep_ms = serviceSettings(this.env).EVENT_TTL * 1000;
  readonly #record_ms = recordMs(this.env);
  readonly #output_ms = serviceSettings(this.env).MEDIA_TTL * 1000;
  readonly #listed_bytes = serviceSettings(this.env).LISTED_BYTES;
  readonly #runs = createRunIndex(this.ctx.storage.sql);
  readonly #jobs = createJobTable(this.ctx.storage.sql, this.#runs);
  readonly #connections = createConnectionTable(this.ctx.storage.sql);
  readonly #idempotency = createIdempotencyTable(this.ctx.storage.sql);
  readonly #metrics = createMetricTable(this.ctx.storage.sql);
  readonly #webhooks = createWebhookQueue(this.ctx.storage.sql, createIds(random), this.#keep_ms, this.#runs);
  readonly #log = createLog(serviceSettings(this.env).LOG_LEVEL);
  readonly #quota = createQuota(this.ctx.storage.sql, dayLimits(this.env), () => Date.now());
  readonly #usage = createUsage();
  readonly #useNotes = createUseNotes(async (key_id, at) => {
    const locator = await locatorOf(this.ctx.id.name ?? "");
    await this.env.KEYS.getByName(locator).keys.noteUse(key_id, at);
  });
  readonly #retirement = createRetirement({
    runs: this.#runs,
    webhooks: this.#webhooks,
    kv: this.ctx.storage.kv,
    bucket: mediaBucket(this.env),
    project: this.ctx.id.name ?? "",
    objects: this.env.TASK,
    isLarge: () => this.#isLarge(),
  });
  #armed = Number.POSITIVE_INFINITY;

  // RPC exposes getters, not fields.
  readonly #targets = {
    runs: toTarget(listsOf(this.#runs)),
    connections: toTarget(this.#connections),
    idempotency: toTarget(this.#idempotency),
    endpoints: toTarget(this.#webhooks.endpoints),
    secrets: toTarget(this.#webhooks.secrets),
    mail: toTarget(queueMethods(this.#webhooks)),
    quota: toTarget(this.#quota),
  };

  /** The lists of runs, and the tasks of steps. */
  get runs() {
    return this.#targets.runs;
  }

  /** The connections. */
  get connections() {
    return this.#targets.connections;
  }

  /** Requests by their `Idempotency-Key`. */
  get idempotency() {
    return this.#targets.idempotency;
  }

  /** The endpoints of webhooks. */
  get endpoints() {
    return this.#targets.endpoints;
  }

  /** The sealed secrets that sign webhooks. */
  get secrets() {
    return this.#targets.secrets;
  }

  /** The events and their deliveries. */
  get mail() {
    return this.#targets.mail;
  }

  /** The bytes that the project may move in a day. */
  get quota() {
    return this.#targets.quota;
  }

  /** Adds the use of a key that one Worker reports, and returns its total use in the current minute. */
  async countUse(key_id: string, use: Use): Promise<KeyWindow> {
    const now = Date.now();
    const window = this.#usage.add(key_id, use, now);
    await this.#useNotes.note(key_id, now);
    return window;
  }

  /** Returns when each key of the project was last used, since this object started. */
  keyUses(): ReadonlyMap<string, number> {
    return this.#usage.lastUses();
  }

  /** Adds a record or replaces an older version of it, and creates the events of its changes; returns the deliveries that are due. */
  put(record: Task | Step, version: number, set: ChangeSet): DeliveryRequest[] {
    if (this.#runs.isGone(record.id)) return [];
    const now = Date.now();
    const { changed, deliveries } = this.ctx.storage.transactionSync(() => {
      const changed = this.#runs.put(record, version);
      const deliveries = this.#webhooks.post(set, now);
      if (isFinished(record)) {
        this.#webhooks.pack(record.id);
        // The object of a job's last task sends the event of the job's end.
        const { webhook_url } = set;
        deliveries.push(
          ...this.#jobs.endsWith(record).flatMap((end) => this.#webhooks.post({ ...end, webhook_url }, now)),
        );
      }
      return { changed, deliveries };
    });
    if (changed && isFinished(record)) {
      this.#connections.release(record.id);
      this.#observe(record);
      this.#quota.addStored(storedBytes(record));
    }
    const pause = this.#isLarge() ? this.#paceMs() : Math.min(this.#keep_ms, this.#record_ms);
    if (now + pause < this.#armed) void this.#arm(now + pause);
    return deliveries;
  }

  /** Lists a job. */
  addJob(head: JobHead, tasks: readonly string[]): void {
    this.#jobs.add(head, tasks);
  }

  /** Removes a job from the list and releases its connections. */
  removeJob(id: string): void {
    this.#webhooks.removeOf(id);
    this.#jobs.remove(id);
    this.#connections.release(id);
  }

  /** Returns a page of jobs, each with the listed records of its tasks. */
  listJobs(query: ListQuery): ListPage<ListedJob> {
    return this.#jobs.list(query);
  }

  /** Removes a withdrawn record with its events, as if it had never been added. */
  withdraw(id: string): void {
    this.#webhooks.withdraw(id);
    this.#runs.drop(id);
    this.#connections.release(id);
  }

  /** Removes a record and its delivered events. */
  remove(id: string): void {
    for (const each of [id, ...this.#jobs.of(id)]) this.#webhooks.removeOf(each);
    this.#runs.remove(id);
    this.#connections.release(id);
  }

  /** Returns the metrics of the project. */
  readMetrics(): MetricsReport {
    const database_bytes = this.ctx.storage.sql.databaseSize;
    return { measured: this.#metrics.read(), open: this.#metrics.open(), database_bytes };
  }

  /** Removes expired events and archives old records. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    const pace = now + this.#paceMs();
    const later = (at: number | null) => at && Math.max(at, pace);
    const duties = {
      prune: async () => later(this.#webhooks.prune(now)),
      archive: async () => {
        const age = this.#archiveMs();
        return (await this.#retirement.retire(now - age))
          ? now + BATCH_MS
          : later(this.#retirement.oldest(age));
      },
    };
    const next: number[] = [];
    for (const [work, duty] of Object.entries(duties)) {
      try {
        const at = await duty();
        if (at !== null) next.push(at);
      } catch (thrown) {
        logFault("alarm failed", thrown, { project: this.ctx.id.name, work });
        next.push(pace);
      }
    }
    this.#armed = Math.min(Number.POSITIVE_INFINITY, ...next);
    if (next.length > 0) await this.ctx.storage.setAlarm(this.#armed);
  }

  async #arm(at: number): Promise<void> {
    this.#armed = at;
    const armed = await this.ctx.storage.getAlarm();
    if (armed === null || at < armed) await this.ctx.storage.setAlarm(at);
  }

  #isLarge(): boolean {
    return this.ctx.storage.sql.databaseSize > this.#listed_bytes;
  }

  #archiveMs(): number {
    return this.#isLarge() ? this.#output_ms : this.#record_ms;
  }

  #paceMs(): number {
    return Math.min(PRUNE_MS, this.#archiveMs());
  }

  // Called once per run, because a final state never changes and each version is added once.
  #observe(record: Task | Step): void {
    const project = this.ctx.id.name ?? "";
    const observations = observeEnd(record);
    this.#metrics.add(observations);
    writePoints(this.env.ANALYTICS, project, observations);
    logEnd(this.#log, project, record);
  }
}

function listsOf({ list, parentOf, isGone }: RunIndex) {
  return { list, parentOf, isGone };
}

function queueMethods(queue: WebhookQueue): WebhookQueueMethods {
  const { addEndpoint, removeEndpoint, ship, note, replay, event, events, delivery, deliveries } = queue;
  return { addEndpoint, removeEndpoint, ship, note, replay, event, events, delivery, deliveries };
}

function recordMs(bindings: Bindings): number {
  const { RECORD_TTL, MEDIA_TTL } = serviceSettings(bindings);
  return Math.max(RECORD_TTL, MEDIA_TTL) * 1000;
}

function dayLimits(bindings: Bindings): DayBytes {
  const { DAILY_FETCHED_BYTES: fetched, DAILY_STORED_BYTES: stored } = serviceSettings(bindings);
  return { fetched, stored };
}

/**
 * The API keys of one project. They are separate from its records, so that a busy or full project still authenticates and a forged key
 * creates no index. Every lookup and change of a key is a transaction here, so a revocation takes effect everywhere at once. One more
 * object lists the names of all projects.
 */
export class KeyObject extends DurableObject<Bindings> {
  readonly #keys = toTarget(createKeyTable(this.ctx.storage.sql));
  readonly #projects = toTarget(createProjectDirectory(this.ctx.storage.sql));

  /** The keys. */
  get keys() {
    return this.#keys;
  }

  /** The names of all projects; used in a single object. */
  get projects() {
    return this.#projects;
  }
}

/** Makes the methods of an object callable over RPC, which exposes only methods of a prototype. */
function toTarget<T extends object>(methods: T): T & RpcTarget {
  class Target extends RpcTarget {}
  Object.assign(Target.prototype, methods);
  return new Target() as RpcTarget & T;
}
