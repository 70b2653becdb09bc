import { type Dropped, dropped, type Source } from "../../src/index.ts";
import type { Wishes } from "../queue/item.ts";
import { languageName } from "./names.ts";

/**
 * Describes what the output will lack of a file: `Leaves out: subtitles (German), chapters.`; null when that is nothing, or
 * exactly what was asked for.
 */
export function describeDropped({ kind, options }: Wishes, source: Source | null): string | null {
  const lost = source ? listed(kind, options, source).filter(({ reason }) => reason !== "asked") : [];
  if (lost.length === 0) return null;
  const names = PARTS.flatMap(({ fits, name }) => {
    const some = lost.filter(fits);
    return some.length > 0 ? [name(some)] : [];
  });
  return `Leaves out: ${names.join(", ")}.`;
}

function listed(kind: Wishes["kind"], options: Wishes["options"], source: Source): Dropped[] {
  try {
    return dropped(kind, options, source);
  } catch {
    // Errors are shown where the options are chosen.
    return [];
  }
}

interface Part {
  fits(one: Dropped): boolean;
  name(some: readonly Dropped[]): string;
}

const PARTS: readonly Part[] = [
  { fits: ({ kind }) => kind === "video", name: (some) => further(some, "video track") },
  { fits: ({ kind }) => kind === "audio", name: (some) => further(some, "sound track") },
  { fits: ({ kind }) => kind === "channels", name: () => "surround sound (it becomes stereo)" },
  { fits: ({ kind }) => kind === "subtitle", name: (some) => `subtitles${languages(some)}` },
  { fits: ({ kind }) => kind === "chapters", name: () => "chapters" },
  { fits: ({ kind }) => kind === "data", name: () => "attached data" },
  { fits: ({ kind }) => kind === "cover", name: coverWords },
  {
    fits: ({ kind, reason }) => kind === "tags" && reason !== "private",
    name: () => "tags the format does not support",
  },
  {
    fits: ({ kind, reason }) => kind === "tags" && reason === "private",
    name: () => "private tags such as location and device",
  },
];

function further(some: readonly Dropped[], what: string): string {
  return `${some.length} further ${what}${some.length === 1 ? "" : "s"}${languages(some)}`;
}

function coverWords(some: readonly Dropped[]): string {
  return some.every(({ reason }) => reason === "one_track") ? "further covers" : "the cover";
}

function languages(some: readonly Dropped[]): string {
  const names = some.flatMap(({ language }) => (language ? [languageName(language)] : []));
  return names.length > 0 ? ` (${names.join(", ")})` : "";
}
