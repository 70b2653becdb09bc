import type { Source } from "../../src/index.ts";
import type { Naming } from "../queue/item.ts";

const FORBIDDEN = /[\\/:*?"<>|\p{Cc}]/gu;
const MAX_LENGTH = 120;

/** Returns whether an output is a folder of files: a stream, a storyboard, or several stills. */
export function isFolder({ kind, files }: Pick<Source, "kind" | "files">): boolean {
  return kind === "adaptive_video" || files !== undefined;
}

/** The facts about an output that its name depends on. */
export type NamedOutput = Pick<Source, "kind" | "url" | "format" | "files" | "width" | "height">;

/**
 * Names an output for the visitor: by the input's name or the pattern of `naming`, with the output's extension. A folder has no extension.
 */
export function outputName(inputName: string, output: NamedOutput, naming: Naming | null = null): string {
  const name = stemOf(inputName);
  const stem = naming ? cleanStem(fillPattern(naming, name, output)) : name;
  return isFolder(output) ? stem : `${stem}.${endingOf(output)}`;
}

/** Names a file of a folder by its URL, so that it stays in the folder. */
export function fileName(url: string): string {
  const last = url.replace(/[?#].*$/, "").replace(/^.*\//, "");
  return decodeName(last)
    .replaceAll(FORBIDDEN, "_")
    .replace(/^\.+/, (dots) => "_".repeat(dots.length));
}

/** Decodes a percent-encoded name; returns a malformed one as it is. */
export function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Numbers repeated names, as in `clip (2).mp4`; compares them case-insensitively, as many disks do. */
export function numberDuplicates(names: readonly string[]): string[] {
  const used = new Set<string>();
  return names.map((name) => {
    const free = freeName(name, (each) => used.has(each.toLowerCase()));
    used.add(free.toLowerCase());
    return free;
  });
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = withNumber(name, number);
  return free;
}

export function withNumber(name: string, number: number): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? `${name.slice(0, dot)} (${number})${name.slice(dot)}` : `${name} (${number})`;
}

function stemOf(inputName: string): string {
  const safe = inputName.replace(/[?#].*$/, "").replaceAll(FORBIDDEN, "_");
  const dot = safe.lastIndexOf(".");
  return cleanStem(dot > 0 ? safe.slice(0, dot) : safe);
}

/** The fields that a pattern may contain, in braces. */
export const PATTERN_FIELDS = ["name", "n", "size", "date"] as const;

function fillPattern(
  { pattern, number, date }: Naming,
  name: string,
  { width, height }: Pick<Source, "width" | "height">,
): string {
  const values = { name, n: number, size: width && height ? `${width}x${height}` : "", date };
  return pattern.replaceAll(/\{(name|n|size|date)\}/g, (_, field: keyof typeof values) => values[field]);
}

function cleanStem(text: string): string {
  const stem = [...text.replaceAll(FORBIDDEN, "_")].slice(0, MAX_LENGTH).join("");
  return stem.replace(/^[.\s]+|[.\s]+$/g, "") || "media";
}

function endingOf({ url, format }: Pick<Source, "url" | "format">): string {
  const path = url.replace(/[?#].*$/, "");
  return /\.([a-z0-9]{1,5})$/i.exec(path)?.[1]?.toLowerCase() ?? format;
}
