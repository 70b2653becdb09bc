/** A queue in order of arrival, bounded in the number that run at once and in a shared budget. */
export interface Turns {
  /**
   * Resolves in its turn to a function that ends the turn; rejects when the signal aborts. A request beyond the whole budget
   * waits until it runs alone.
   */
  take(amount: number, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  amount: number;
  start(): void;
}

/** Creates a queue that runs `most` at once, within `budget` together. */
export function createTurns(most: number, budget: number): Turns {
  const queue: Waiting[] = [];
  let running = 0;
  let taken = 0;

  function next(): void {
    for (;;) {
      const first = queue[0];
      if (!first || running >= most || (running > 0 && taken + first.amount > budget)) return;
      queue.shift();
      running++;
      taken += first.amount;
      first.start();
    }
  }

  return {
    take(amount, signal) {
      return new Promise<() => void>((resolve, reject) => {
        signal.throwIfAborted();
        const abort = () => {
          queue.splice(queue.indexOf(waiting), 1);
          reject(signal.reason);
          next();
        };
        const waiting = {
          amount,
          start() {
            signal.removeEventListener("abort", abort);
            let over = false;
            resolve(() => {
              if (over) return;
              over = true;
              running--;
              taken -= amount;
              next();
            });
          },
        };
        signal.addEventListener("abort", abort, { once: true });
        queue.push(waiting);
        next();
      });
    },
  };
}
