/** An object of ffprobe's report whose fields nobody has looked at yet. */
export type Report = Readonly<Record<string, unknown>>;

/** Takes a value as an object; anything else is an empty one. */
export function asRecord(value: unknown): Report {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Report) : {};
}

/** Takes a value as a list; anything else is an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Takes a value as a text that says something; `N/A` and the like are undefined. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value !== "N/A" ? value : undefined;
}

/** Takes a number or a text of digits as a finite number. */
export function asNumber(value: unknown): number | undefined {
  if (typeof value !== "number" && asText(value) === undefined) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** Takes a text such as `30000/1001` as a number above 0. */
export function asRatio(value: unknown): number | undefined {
  const [over = "", under = ""] = asText(value)?.split("/") ?? [];
  const ratio = Number(over) / Number(under);
  return Number.isFinite(ratio) && ratio > 0 ? ratio : undefined;
}
