/**
 * Parses the output time in seconds from a line of ffmpeg's `-progress` or status output, limited to 0 to `duration` where
 * that is known; null when the line has none.
 */
export function parseProgress(line: string, duration: number | null = null): number | null {
  const micros = /^out_time_(?:us|ms)=(-?\d+)\s*$/.exec(line);
  const clock =
    /\btime=\s*(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(line) ??
    /^out_time=\s*(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(line);
  // Both counters are in microseconds, despite their names.
  const seconds = micros ? Number(micros[1]) / 1e6 : clockSeconds(clock);
  if (seconds === null) return null;
  return Math.min(Math.max(0, seconds), duration ?? Number.POSITIVE_INFINITY);
}

function clockSeconds(match: RegExpExecArray | null): number | null {
  if (!match) return null;
  const [, sign, hours, minutes, seconds] = match;
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === "-" ? -total : total;
}
