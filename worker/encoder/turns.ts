import { sleep } from "../../src/util/async.ts";
import { errors } from "./errors.ts";

/** A place in the line; the first in it works. */
export interface Place {
  /** How many are before it. */
  readonly ahead: number;
  /** Ends when it is the first. Calls `onWait` about once a second until then. */
  turn(onWait: () => Promise<void>): Promise<void>;
  /** Releases the place. */
  leave(): void;
}

/** A line of jobs of which one works at a time, in the order in which they came. */
export interface Turns {
  /** Takes a place at the end; throws `service_unavailable` when too many wait. */
  enter(): Place;
}

const BEAT = 25;
const BEATS_A_SECOND = 1000 / BEAT;

interface Entry {
  beats: number;
}

/** Creates a line in which up to `waiting` jobs wait. */
export function createTurns(waiting: number): Turns {
  const line: Entry[] = [];

  function remove(entry: Entry): void {
    const index = line.indexOf(entry);
    if (index >= 0) line.splice(index, 1);
  }

  return {
    enter() {
      if (line.length > waiting) {
        throw errors.queueFull();
      }
      const own: Entry = { beats: 0 };
      line.push(own);
      // When a caller goes away the runtime stops all that was done for it, without a word. A job that is gone is
      // known by its heart: it no longer beats while others do. Beats are counted, as the clock stands still while
      // another job has the processor.
      const heart = setInterval(() => own.beats++, BEAT);
      return {
        get ahead() {
          return Math.max(0, line.indexOf(own));
        },
        async turn(onWait) {
          let watched: Entry | undefined;
          let beats = 0;
          let silent = 0;
          for (let count = 0; line[0] !== own; count++) {
            if (!line.includes(own)) throw errors.placeLost();
            if (count % BEATS_A_SECOND === 0) await onWait();
            await sleep(BEAT);
            const first = line[0];
            const alive = first !== watched || first?.beats !== beats;
            silent = alive ? 0 : silent + 1;
            watched = first;
            beats = first?.beats ?? 0;
            if (first && silent > BEATS_A_SECOND) remove(first);
          }
        },
        leave() {
          clearInterval(heart);
          remove(own);
        },
      };
    },
  };
}
