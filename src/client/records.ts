import type { EncodeKind, StepKind } from "../core/formats.ts";
import type { OptionsOf } from "../core/option-types.ts";
import type { Source } from "../core/source.ts";
import type { RunError, Step as StepRecord } from "../core/step.ts";
import type { Task as TaskRecord } from "../core/task.ts";

/**
 * A task: one input through probe, ingest, encode and upload. A union by `kind`, which types its options, and by `status`: a
 * task that succeeded has an `output`, one that failed an `error`. Field names are those of the HTTP API.
 *
 * @example if (task.status === "failed") console.error(task.error.message);
 */
export type Task<K extends EncodeKind = EncodeKind> = K extends EncodeKind
  ? Omit<TaskRecord, "kind" | "options" | "status" | "error" | "output" | "steps"> & {
      kind: K;
      options: OptionsOf<K>;
      steps: Step[];
    } & TaskState
  : never;

type TaskState =
  | { status: "queued" | "processing" | "cancelled"; output: string | null; error: null }
  | { status: "succeeded"; output: string; error: null }
  | { status: "failed"; output: string | null; error: RunError };

/**
 * A standalone step: one operation on one file. A union by `kind` and `status`, like {@link Task}; the output of a `probe`
 * is the Source of the file.
 */
export type Step<K extends StepKind = StepKind> = K extends StepKind
  ? Omit<StepRecord, "kind" | "options" | "status" | "error" | "output"> & {
      kind: K;
      options: OptionsOf<K>;
    } & StepState
  : never;

type StepState =
  | { status: "waiting" | "processing" | "cancelled"; output: null; error: null }
  | { status: "succeeded"; output: Source; error: null }
  | { status: "failed"; output: null; error: RunError };

/** A task or step in any state, known only by its type. */
export type AnyRun = TaskRecord | StepRecord;

/** A task or step, or its id. */
export type RunRef = AnyRun | string;

/** The record behind a reference: a task, a step, or either of them for an id. */
export type RecordOf<T> = T extends { object: "task"; kind: infer K extends EncodeKind }
  ? Task<K>
  : T extends { object: "step"; kind: infer K extends StepKind }
    ? Step<K>
    : Task | Step;
