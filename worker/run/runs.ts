import type { EncoderChoice } from "../../src/media/refusal.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";

/** The context that a run is created with. */
export interface RunSetup {
  /** Base of its URLs, such as `https://media.example`. */
  base: string;
  /** Id of the API key that created it, which fair queueing counts it for. */
  key_id: string;
  /** URL that receives its events, in addition to the project's endpoints. */
  webhook_url?: string | undefined;
  /** The key that encrypts its output, sealed for its id. */
  sealed_key?: string | undefined;
  /** Whether its job blocks it for now. */
  held?: boolean;
}

/** Tasks or standalone steps, each in its project. Ids of other projects are unknown. */
export interface Runs<T extends Task | Step> {
  /** Stores the new record and queues its run. */
  create(project: string, record: T, setup: RunSetup): Promise<T>;
  /** Returns a run's own webhook URL; null when it has none. */
  webhookUrl(project: string, id: string): Promise<string | null>;
  /** Returns a run's sealed encryption key; null when it has none. */
  sealedKey(project: string, id: string): Promise<string | null>;
  get(project: string, id: string): Promise<T | null>;
  /** Returns a record as JSON; null for an unknown one. */
  read(project: string, id: string): Promise<string | null>;
  /**
   * Streams the run's state and its changes after version `lastVersion` as server-sent events, until it is finished; `over` when it ended
   * at or before that version, null when there is none.
   */
  follow(
    project: string,
    id: string,
    lastVersion: number,
  ): Promise<ReadableStream<Uint8Array> | "over" | null>;
  list(project: string, query: ListQuery): Promise<ListPage<T>>;
  /**
   * Stops the work and returns the cancelled record; rejects with `task_not_found`/`step_not_found` or
   * `task_finished`/`step_finished`.
   */
  cancel(project: string, id: string): Promise<T>;
  /** Removes the record and its output; rejects with not found, or `task_running`/`step_running` while it runs. */
  delete(project: string, id: string): Promise<void>;
}

/** A record at a version, which counts its changes. */
export interface Versioned<T> {
  version: number;
  record: T;
  /** The encoder assigned to its encode, which the record lacks until the encode ends; absent or null while there is none. */
  choice?: EncoderChoice | null;
}

/** A step and the id of its task, null for a standalone step. */
export interface StepLocation {
  step: Step;
  task_id: string | null;
}

/** Finds a step by its id, standalone or inside a task; null when the project has none. */
export type FindStep = (project: string, id: string) => Promise<StepLocation | null>;
