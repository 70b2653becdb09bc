/** Gives turns, in the order they are asked for: so many at once at most, and so much of what is scarce. */
export interface Turns {
  /** Resolves when it is one's turn, with what ends it; rejects when the signal aborts. What takes more than there is waits until it is alone. */
  take(amount: number, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  amount: number;
  start(): void;
}

/** Creates turns for `most` at once, which together take `budget` at most. */
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
