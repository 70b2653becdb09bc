/** A first-in, first-out queue with a limited number of slots and a shared budget. */
export interface SlotQueue {
  /**
   * Resolves to a function that frees the slot; rejects when the signal aborts. A request larger than the whole budget waits until
   * it can run alone.
   */
  take(amount: number, signal: AbortSignal): Promise<() => void>;
}

interface QueueEntry {
  amount: number;
  start(): void;
}

/** Creates a queue with `slots` slots that share `budget`. */
export function createSlotQueue(slots: number, budget: number): SlotQueue {
  const queue: QueueEntry[] = [];
  let running = 0;
  let used = 0;

  function next(): void {
    for (;;) {
      const first = queue[0];
      if (!first || running >= slots || (running > 0 && used + first.amount > budget)) return;
      queue.shift();
      running++;
      used += first.amount;
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
              used -= amount;
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
