// Seldom enough to leave the machine to the encoders.
const EVERY_MS = 80;
// Hidden pages draw no frames.
const LATE_MS = 100;

/** Builds what does work with the next frame, or a little later where none is drawn, and from one time to the next lets a while pass. */
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
