/** Calls `act` when the page is idle, or soon where the browser cannot tell. */
export function whenIdle(act: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(act);
  else setTimeout(act, 500);
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
