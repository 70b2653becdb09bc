const EVERY_MS = 500;

/** Throttles reports: calls through at most twice a second and drops the rest. */
export function throttle<A extends unknown[]>(
  report: (...args: A) => Promise<void>,
): (...args: A) => Promise<void> {
  let last = 0;
  return async (...args) => {
    const now = Date.now();
    if (now - last < EVERY_MS) return;
    last = now;
    await report(...args);
  };
}
