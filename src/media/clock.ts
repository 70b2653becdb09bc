/** Ticks per second of the filters' time base, which represents all common frame rates, and milliseconds, exactly. */
export const CLOCK = 120_000;

/** Tolerance in seconds for rounded times: a frame this close to an edge belongs to the span that starts there. */
export const EPSILON_SECONDS = 0.0005;

/**
 * ffmpeg's filter that fills gaps in sound with silence. By default, it leaves gaps shorter than 0.1 s, and the sound after them plays early; a
 * packet lasts at least 0.02 s in most codecs.
 */
export const FILL_GAPS = "aresample=async=1:min_hard_comp=0.02";

/** Rounds a time in seconds to microseconds, the resolution of any file's clock. */
export function roundTime(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}

/** Formats milliseconds as `HH:MM:SS.mmm`, with more digits for hours above 99. */
export function formatClock(ms: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  return `${two(hours)}:${two(minutes)}:${((ms % 60_000) / 1000).toFixed(3).padStart(6, "0")}`;
}
