const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Returns whether a server with this status may accept the same request a little later. */
export function isTransient(status: number): boolean {
  return TRANSIENT.has(status);
}
