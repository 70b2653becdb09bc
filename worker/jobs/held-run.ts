import { RpcTarget } from "cloudflare:workers";
import type { RunError } from "../../src/runs/step.ts";
import { failOpenStep, type RunEvent } from "../../src/runs/transitions.ts";
import type { Admission } from "../run/admission.ts";
import { isHeld, type RunRow } from "../run/run-row.ts";
import type { RunRows } from "../run/run-rows.ts";

/** What a held run acts on. */
export interface HeldTools {
  rows: RunRows;
  admission: Admission;
  apply(row: RunRow, event: RunEvent): Promise<unknown>;
  changed(): void;
  /** Lets the run enter the queue. */
  enter(): void;
}

/** A run that its job holds back; each method does nothing once it is let go. */
export class HeldRun extends RpcTarget {
  readonly #tools: HeldTools;

  constructor(tools: HeldTools) {
    super();
    this.#tools = tools;
  }

  /** Publishes the run, whose job stands. */
  async announce(): Promise<void> {
    await this.#tools.admission.announce();
  }

  /** Lets the run enter the queue, with the input that it waited for; null leaves that as it is. */
  async release(input: string | null): Promise<void> {
    if (!(await this.#tools.admission.release(input))) return;
    this.#tools.changed();
    this.#tools.enter();
  }

  /** Fails the run. */
  async fail(error: Omit<RunError, "step_id">): Promise<void> {
    const row = this.#tools.rows.get();
    if (row && isHeld(row)) await this.#tools.apply(row, failOpenStep(row.record, error));
  }

  /** Removes the run as if it had never been created. */
  async withdraw(): Promise<void> {
    await this.#tools.admission.refuse();
  }
}
