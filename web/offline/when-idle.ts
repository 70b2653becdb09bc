/** Does something when the page is idle; not every browser tells. */
export function whenIdle(act: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(act);
  else setTimeout(act, 500);
}
