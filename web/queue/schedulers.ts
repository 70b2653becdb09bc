/** Runs at most `slots` operations at once, in order of arrival. */
export function createSlots(slots: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let freeSlots = slots;
  return async function inTurn(work) {
    if (freeSlots > 0) freeSlots--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else freeSlots++;
    }
  };
}

// More frequent renders would take processor time from the encoders.
const EVERY_MS = 80;
// Hidden pages render no frames.
const LATE_MS = 100;

/** Creates a scheduler that runs work with the next frame, or a little later when none is rendered, with a pause between runs. */
export function createFrames(): (work: () => void) => void {
  let last = Number.NEGATIVE_INFINITY;

  function draw(work: () => void): void {
    const once = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      last = performance.now();
      work();
    };
    const frame = requestAnimationFrame(once);
    const timer = setTimeout(once, LATE_MS);
  }

  return (work) => {
    const wait = last + EVERY_MS - performance.now();
    if (wait > 0) setTimeout(draw, wait, work);
    else draw(work);
  };
}
