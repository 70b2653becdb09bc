/** A typed time in seconds, or what is wrong with it. */
export type ParsedTime = { seconds: number } | { fault: string };

const SHAPE = /^(?:(?:(\d+):)?(\d{1,3}):)?(\d+(?:[.,]\d*)?|[.,]\d+)$/;
const WANTED = "Write a time as 1:02.50, or in seconds as 62.5.";

/** Parses a time as people type it: `1:02.50`, `1:02:03`, `62.5`, `62,5 s`. */
export function parseTime(text: string): ParsedTime {
  const bare = text.trim().replace(/\s*s(ec(onds?)?)?$/i, "");
  if (/^[-−]/.test(bare)) return { fault: "A time cannot be before the start." };
  const [, hours, minutes, rest] = SHAPE.exec(bare) ?? [];
  if (rest === undefined) return { fault: WANTED };
  const seconds = Number(rest.replace(",", "."));
  if (minutes !== undefined && seconds >= 60) return { fault: "Seconds go up to 59." };
  if (hours !== undefined && Number(minutes) >= 60) return { fault: "Minutes go up to 59." };
  const total = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + seconds;
  return Number.isFinite(total) ? { seconds: roundTime(total) } : { fault: WANTED };
}

/** Rounds a time to microseconds, the resolution of any file's clock. */
export function roundTime(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
