import { RpcTarget } from "cloudflare:workers";
import { isFinished } from "../../src/runs/transitions.ts";
import type { Pin } from "../../src/storage/pinned.ts";
import type { RunRows } from "./run-rows.ts";

/** A pin, with whose input it is. */
export interface RunPinned {
  project: string;
  /** Base of the run's URLs. */
  base: string;
  pin: Pin;
}

/** The version at which a run reads its source, kept by its TaskObject until the run ends. */
export class RunPin extends RpcTarget {
  readonly #rows: RunRows;

  constructor(rows: RunRows) {
    super();
    this.#rows = rows;
  }

  /** Pins the source; false when the run is over. */
  set(pin: Pin): boolean {
    const row = this.#rows.get();
    if (!row || isFinished(row.record)) return false;
    this.#rows.setPin(JSON.stringify(pin));
    return true;
  }

  /** Returns the pin; null when there is none or the run is over. */
  get(): RunPinned | null {
    const row = this.#rows.get();
    const pin = this.#rows.pin();
    if (!row || pin === null || isFinished(row.record)) return null;
    return { project: row.project, base: row.base, pin: JSON.parse(pin) };
  }
}
