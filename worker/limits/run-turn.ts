import { isFinished } from "../../src/runs/transitions.ts";
import type { RunRows } from "../run/run-rows.ts";
import { ASK_MS } from "../run/schedule.ts";
import type { Load, QueuedRun } from "./run-queue.ts";

/** How one run comes to its turn. */
export interface RunTurn {
  /** Enters the queue, or leaves it when the run is over, unless that is done. */
  ask(): Promise<void>;
  /** Takes its turn from the queue; false when the run is over. */
  take(): boolean;
  /** Leaves the slot for light work and asks for one for heavy work: true when the run has it, null when the run is over. */
  askHeavy(): Promise<boolean | null>;
  /** Takes its turn for heavy work; false when the run is over. */
  takeHeavy(): boolean;
  /** Leaves the queue, even if it is unknown whether the run entered. */
  leave(): Promise<void>;
}

/** The queue, as a run sees it. */
export interface TurnQueue {
  enter(run: QueuedRun, load?: Load): Promise<boolean>;
  leave(run_id: string): Promise<void>;
}

/** Creates the turn of the run in these rows. */
export function createRunTurn(rows: RunRows, queue: () => TurnQueue): RunTurn {
  function start(turn: "goes_on" | "heavy" = "goes_on"): void {
    const now = Date.now();
    rows.setTurn(turn);
    rows.update({ heard_at: now, progressed_at: now });
  }

  async function leave(): Promise<void> {
    const row = rows.get();
    if (!row || row.turn === "over") return;
    await queue().leave(row.record.id);
    rows.setTurn("over");
  }

  return {
    leave,
    async ask() {
      const row = rows.get();
      if (!row) return;
      const { project, key_id, turn, record } = row;
      if (isFinished(record)) return leave();
      const asks = turn === "none" || (turn === "waits" && Date.now() >= row.heard_at + ASK_MS);
      if (!asks) return;
      const goes_on = await queue().enter({ run_id: record.id, project, key_id });
      const current = rows.get();
      // Its turn may have come while the answer was on its way.
      if (!current || (current.turn !== "none" && current.turn !== "waits")) return;
      if (goes_on) return start();
      rows.setTurn("waits");
      rows.update({ heard_at: Date.now() });
    },
    take() {
      const row = rows.get();
      if (!row || isFinished(row.record)) return false;
      if (row.turn === "none" || row.turn === "waits") start();
      return true;
    },
    async askHeavy() {
      const row = rows.get();
      if (!row || isFinished(row.record)) return null;
      if (row.turn === "heavy") return true;
      const { project, key_id, record } = row;
      rows.setTurn("heavy_waits");
      const goes_on = await queue().enter({ run_id: record.id, project, key_id }, "heavy");
      // It may have been told, or ended, while the answer was on its way.
      const current = rows.get();
      if (!current || isFinished(current.record)) return null;
      if (goes_on) start("heavy");
      return goes_on || current.turn === "heavy";
    },
    takeHeavy() {
      const row = rows.get();
      if (!row || isFinished(row.record)) return false;
      if (row.turn !== "heavy") start("heavy");
      return true;
    },
  };
}
