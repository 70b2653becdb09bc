/** Formats a time in seconds since 1970 as ffprobe does; null when it is out of range. */
export function timestamp(seconds: number): string | null {
  const date = new Date(Math.round(seconds * 1e6) / 1000);
  if (Number.isNaN(date.getTime())) return null;
  const micros = Math.round(seconds * 1e6) - Math.floor(date.getTime() / 1000) * 1e6;
  return date.toISOString().replace(/\.\d+Z$/, `.${String(micros).padStart(6, "0")}Z`);
}
