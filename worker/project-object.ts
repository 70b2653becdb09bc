import type { Connection, ConnectionChange } from "../src/core/connection.ts";
import type { ListPage, ListQuery } from "../src/core/lists.ts";
import type { Step } from "../src/core/step.ts";
import type { Task } from "../src/core/task.ts";
import { isFinished } from "../src/core/transitions.ts";
import { createUseNotes } from "./auth/use-notes.ts";
import { type ConnectionTable, createConnectionTable, type SealedConnection } from "./connections/table.ts";
import {
  type Begun,
  createIdempotencyTable,
  type Ended,
  type IdempotencyTable,
} from "./idempotency/table.ts";
import { createUsage, type KeyWindow, type Use } from "./limits/usage.ts";
import { writePoints } from "./observability/analytics.ts";
import { createLog } from "./observability/log.ts";
import { logEnd } from "./observability/log-end.ts";
import { createMetricTable, type MetricTable } from "./observability/metric-table.ts";
import type { MetricsReport } from "./observability/metrics.ts";
import { observeEnd } from "./observability/observe-end.ts";
import { createRunIndex, type RunIndex } from "./run/run-index.ts";
import { serviceSettings } from "./settings/service-settings.ts";
import { ProjectWebhooks } from "./webhooks/project-webhooks.ts";
import type { ChangeSet, Shipment } from "./webhooks/shipment.ts";

/**
 * The index of one project: a row for each of its tasks and standalone steps, which lists are read from; its connections, its webhooks, and its
 * requests by their idempotency keys.
 *
 * KV, the mirror of each record, cannot be that index. Its lists lag by up to a minute, so that who creates a task would not find it, and who
 * deletes one would; they sort by key in one direction only, and filter by nothing but a prefix, so that each state would need keys of its own,
 * moved at every change without a transaction. Here a list is right at once, in either order, by state and by kind, and a page of 100,000 tasks
 * takes as long as one of ten. What that costs is that one object answers for a project: some hundred requests a second, and 10 GB, which are two
 * million records.
 */
export class ProjectObject extends ProjectWebhooks {
  readonly #sql = this.ctx.storage.sql;
  readonly #runs: RunIndex;
  readonly #connections: ConnectionTable;
  readonly #idempotency: IdempotencyTable;
  readonly #metrics: MetricTable;
  readonly #log = createLog(serviceSettings(this.env).LOG_LEVEL);
  readonly #usage = createUsage();
  readonly #useNotes = createUseNotes(this.env.KV);

  constructor(ctx: DurableObjectState, bindings: Bindings) {
    super(ctx, bindings);
    this.#runs = createRunIndex(this.#sql);
    this.#connections = createConnectionTable(this.#sql);
    this.#idempotency = createIdempotencyTable(this.#sql);
    this.#metrics = createMetricTable(this.#sql);
  }

  /** Takes a request that carries an `Idempotency-Key`. */
  beginOnce(key: string, digest: string, id: string): Begun {
    return this.#idempotency.begin(key, digest, id, Date.now());
  }

  /** Keeps how such a request ended. */
  endOnce(key: string, ended: Ended): void {
    this.#idempotency.end(key, ended);
  }

  /** Counts what a key of the project has used somewhere, and gives all that it has in its running minute. */
  async countUse(key_id: string, use: Use): Promise<KeyWindow> {
    const now = Date.now();
    const window = this.#usage.add(key_id, use, now);
    await this.#useNotes.note(key_id, now);
    return window;
  }

  /** Gives when each key of the project was last used, as far as it is remembered here. */
  keyUses(): ReadonlyMap<string, number> {
    return this.#usage.lastUses();
  }

  /** Adds a connection of the project. */
  addConnection(entry: SealedConnection): Connection {
    return this.#connections.add(entry);
  }

  /** Gives a connection and its sealed secret. */
  getConnection(id: string): SealedConnection | null {
    return this.#connections.get(id);
  }

  /** Gives the default connection and its sealed secret. */
  defaultConnection(): SealedConnection | null {
    return this.#connections.getDefault();
  }

  /** Gives a page of connections. */
  listConnections(query: ListQuery): ListPage<Connection> {
    return this.#connections.list(query);
  }

  /** Changes a connection, and its sealed secret where one is given. */
  changeConnection(id: string, change: ConnectionChange, sealed: string | null): Connection | null {
    return this.#connections.change(id, change, sealed, Date.now());
  }

  /** Keeps a connection's secret sealed otherwise. */
  resealConnection(id: string, before: string, after: string): void {
    this.#connections.reseal(id, before, after);
  }

  /** Removes a connection that no run uses. */
  removeConnection(id: string): "removed" | "unknown" | "in_use" {
    return this.#connections.remove(id, Date.now());
  }

  /** Ties a connection to a run that is about to be created. */
  reserveConnection(run_id: string, wanted: string | null): string | null {
    return this.#connections.reserve(run_id, wanted, Date.now());
  }

  /** Gives the connection that is tied to a run. */
  connectionOf(run_id: string): SealedConnection | null {
    return this.#connections.of(run_id);
  }

  /** Adds a record or replaces an older version of it, and makes events of its changes; gives what is to be delivered of them. */
  put(record: Task | Step, version: number, set: ChangeSet): Shipment[] {
    if (this.#runs.put(record, version) && isFinished(record)) {
      this.#connections.release(record.id);
      this.#observe(record);
    }
    return this.post(set);
  }

  /** Gives what was measured of the project. */
  readMetrics(): MetricsReport {
    return { measured: this.#metrics.read(), open: this.#metrics.open() };
  }

  /** Removes a record. */
  remove(id: string): void {
    this.#runs.remove(id);
    this.#connections.release(id);
  }

  /** Gives the id of the task that a step belongs to; null for an unknown step. */
  parentOf(step_id: string): string | null {
    return this.#runs.parentOf(step_id);
  }

  /** Gives a page of records as JSON texts, in the order asked for. */
  list(object: "task" | "step", query: ListQuery): ListPage<string> {
    return this.#runs.list(object, query);
  }

  // A state that has ended changes no more, and a version is taken once: each end comes here once.
  #observe(record: Task | Step): void {
    const project = this.ctx.id.name ?? "";
    const observations = observeEnd(record);
    this.#metrics.add(observations);
    writePoints(this.env.ANALYTICS, project, observations);
    logEnd(this.#log, project, record);
  }
}
