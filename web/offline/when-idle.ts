/** Calls `act` when the page is idle, or soon where the browser cannot tell. */
export function whenIdle(act: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(act);
  else setTimeout(act, 500);
}
