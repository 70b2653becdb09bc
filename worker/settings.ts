/** Reads a setting that is a positive number; an absent or useless text gives the default. */
export function numberSetting(text: string | undefined, fallback: number): number {
  const value = Number(text);
  return text && Number.isFinite(value) && value > 0 ? value : fallback;
}
