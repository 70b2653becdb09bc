const MAX_STEM = 64;

/** Returns the base name of a run's output: that of its input, made safe for every file system and URL. */
export function outputStem(input: string): string {
  const path = URL.parse(input)?.pathname ?? "";
  const last = path.split("/").findLast((part) => part !== "") ?? "";
  const stem = decode(last)
    .replace(/\.[a-z0-9]{1,5}$/i, "")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, MAX_STEM);
  return stem || "output";
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
