import type { EncoderChoice } from "../core/choice.ts";
import { MediaError } from "../core/errors.ts";
import { applyToStep, applyToTask, isFinished, type RunEvent } from "../core/transitions.ts";
import { channelOf } from "./earlier-runs.ts";
import type { Run, Sort, Standing } from "./media-api.ts";
import type { RunStores } from "./run-stores.ts";

/** What all tabs tell each other. */
export type Notice =
  | ({ type: "changed" } & Standing)
  | { type: "removed"; id: string }
  | { type: "resumed"; id: string };

/** The records, of which every tab may change any: one change at a time, and all tabs hear of it. */
export interface RunRecords {
  /** Rejects with `task_not_found` or `step_not_found`. */
  get(sort: Sort, id: string): Promise<Run>;
  add(record: Run): Promise<void>;
  /** Changes a record by an event; null when it is finished or gone, and the event comes too late. */
  apply(id: string, event: RunEvent): Promise<Run | null>;
  /** Notes which encoder a run is given to, null for none any more; gives what {@link RunRecords.apply} gives. */
  choose(id: string, choice: EncoderChoice | null): Promise<Run | null>;
  /** Gives which encoder an unfinished run was given to; null while there is none. */
  choice(id: string): Promise<EncoderChoice | null>;
  /** Puts another record in the place of one that is not finished; null when it is. */
  replace(id: string, change: (record: Run) => Run): Promise<Run | null>;
  /** Removes a finished record, after `clear` has removed what belongs to it; rejects as `get`, or with `task_running`. */
  remove(id: string, clear: () => Promise<void>): Promise<void>;
  /** Tells the other tabs something. */
  tell(notice: Notice): void;
}

const CHOICE = "choice";

/** Builds the records over what is stored; `hear` is told what happens in this tab and in all others. */
export function createRunRecords(
  name: string,
  stores: RunStores,
  hear: (notice: Notice, own: boolean) => void,
): RunRecords {
  const channel = new BroadcastChannel(channelOf(name));
  channel.addEventListener("message", (event) => hear((event as MessageEvent<Notice>).data, false));

  function tell(notice: Notice): void {
    hear(notice, true);
    channel.postMessage(notice);
  }

  async function alone<T>(id: string, work: () => Promise<T>): Promise<T> {
    return navigator.locks.request(`${name} record ${id}`, work) as Promise<T>;
  }

  const choiceOf = async (id: string) =>
    ((await stores.pieces.get(id, CHOICE))?.value ?? null) as EncoderChoice | null;

  async function replace(id: string, change: (record: Run) => Run): Promise<Run | null> {
    return alone(id, async () => {
      const before = await stores.get(sortOf(id), id);
      if (!before || isFinished(before)) return null;
      const record = change(before);
      if (record !== before) {
        await stores.put(record);
        tell({ type: "changed", record, choice: await choiceOf(id) });
      }
      return record;
    });
  }

  async function choose(id: string, choice: EncoderChoice | null): Promise<Run | null> {
    return alone(id, async () => {
      const record = await stores.get(sortOf(id), id);
      if (!record || isFinished(record)) return null;
      await stores.pieces.put(id, CHOICE, choice);
      tell({ type: "changed", record, choice });
      return record;
    });
  }

  return {
    async get(sort, id) {
      const record = sortOf(id) === sort ? await stores.get(sort, id) : null;
      if (!record) throw unknown(sort);
      return record;
    },
    async add(record) {
      await stores.put(record);
      tell({ type: "changed", record, choice: null });
    },
    async apply(id, event) {
      if (event.type === "encoder_chosen") return choose(id, event.choice);
      return replace(id, (record) => {
        const now = Date.now();
        return record.object === "task" ? applyToTask(record, event, now) : applyToStep(record, event, now);
      });
    },
    choose,
    choice: choiceOf,
    replace,
    async remove(id, clear) {
      await alone(id, async () => {
        const sort = sortOf(id);
        const record = await stores.get(sort, id);
        if (!record) throw unknown(sort);
        if (!isFinished(record)) {
          throw new MediaError("task_running", `The ${sort} still runs; cancel it first.`);
        }
        await clear();
        await stores.delete(record);
        tell({ type: "removed", id });
      });
    },
    tell,
  };
}

/** The sort of record that an id names. */
export function sortOf(id: string): Sort {
  return String(id).startsWith("step_") ? "step" : "task";
}

function unknown(sort: Sort): MediaError {
  return new MediaError(`${sort}_not_found`, `There is no ${sort} with that id.`);
}
