/** An object of ffprobe's report with unchecked fields. */
export type Report = Readonly<Record<string, unknown>>;

/** Returns a value that is an object; otherwise an empty one. */
export function asRecord(value: unknown): Report {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Report) : {};
}

/** Returns a value that is an array; otherwise an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a non-empty string; undefined for `N/A` and the like. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value !== "N/A" ? value : undefined;
}

export function asNumber(value: unknown): number | undefined {
  if (typeof value !== "number" && asText(value) === undefined) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Parses a ratio such as `30000/1001` as a number above 0. */
export function asRatio(value: unknown): number | undefined {
  const [over = "", under = ""] = asText(value)?.split("/") ?? [];
  const ratio = Number(over) / Number(under);
  return Number.isFinite(ratio) && ratio > 0 ? ratio : undefined;
}
