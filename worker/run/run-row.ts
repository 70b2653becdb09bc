import type { EncoderChoice } from "../../src/media/refusal.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";

/**
 * Where a run stands: its job is still being created; its job holds it back; it has not entered the queue; it waits there; it runs;
 * it waits for a slot for heavy work; it has one; it has left the queues; or its job was never created, and it must not run.
 */
export type Turn =
  | "creating"
  | "held"
  | "none"
  | "waits"
  | "goes_on"
  | "heavy_waits"
  | "heavy"
  | "over"
  | "withdrawn";

/** Whether a run's job holds it back. */
export function isHeld({ turn }: Pick<RunRow, "turn">): boolean {
  return turn === "creating" || turn === "held";
}

/** The one row of a TaskObject; times are milliseconds since the epoch. */
export interface RunRow {
  project: string;
  /** Id of the API key that made it. */
  key_id: string;
  turn: Turn;
  /** Base of the run's URLs. */
  base: string;
  record: Task | Step;
  /** The encoder that its encode was given to; null while there is none. */
  choice: EncoderChoice | null;
  /** Counts the changes of the record and its choice; `mirrored` is the newest one that KV and the index have. */
  version: number;
  mirrored: number;
  mirrored_at: number;
  /** When the run last gave a sign of life, or asked for its turn, and when its work last moved. */
  heard_at: number;
  progressed_at: number;
  /** How often the silent run was woken since its last sign of life. */
  wakes: number;
  /** 1 once the run's Workflow instance stands. */
  started: number;
  /** How often the files of the finished run were cleared, and when that is next due. */
  cleanups: number;
  cleanup_at: number;
}
