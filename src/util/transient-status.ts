const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Whether a server that answers with this status may take the same request a little later. */
export function isTransient(status: number): boolean {
  return TRANSIENT.has(status);
}
