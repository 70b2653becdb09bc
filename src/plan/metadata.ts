import { moveChapters, writeCommentChapters } from "../core/chapters/chapters.ts";
import type { Source } from "../core/source.ts";
import {
  CHAPTER_PLACES,
  COVER_CODECS,
  holdsCover,
  holdsTag,
  isDescriptive,
  type MetadataMode,
} from "../core/tags.ts";
import type { Plan } from "./plan.ts";

export function planMetadata(
  source: Source,
  format: string,
  mode: MetadataMode = "clean",
  span?: Pick<Plan, "start" | "duration" | "speed">,
): Pick<Plan, "tags" | "cover"> {
  if (mode === "strip") return {};
  const wanted = Object.entries(source.tags ?? {}).filter(([name]) => mode === "keep" || isDescriptive(name));
  const tags = wanted.filter(([name]) => holdsTag(format, name));
  const cover = holdsCover(format)
    ? source.streams?.find(({ kind, codec }) => kind === "cover" && Object.hasOwn(COVER_CODECS, codec ?? ""))
    : undefined;
  const inTags = span && CHAPTER_PLACES.get(format) === "tags";
  if (inTags) tags.push(...Object.entries(writeCommentChapters(moveChapters(source.chapters ?? [], span))));
  return {
    ...(tags.length > 0 && { tags: Object.fromEntries(tags) }),
    ...(cover && { cover: cover.index }),
  };
}

/** Plans the chapters of an output whose finished file gets them, where it shows any. */
export function planChapters(
  source: Source,
  format: string,
  mode: MetadataMode = "clean",
  span: Pick<Plan, "start" | "duration" | "speed">,
): Pick<Plan, "chapters"> {
  if (mode === "strip" || CHAPTER_PLACES.get(format) !== "file") return {};
  return moveChapters(source.chapters ?? [], span).length > 0 ? { chapters: true } : {};
}

// Of the track of titles, of a chapter beside its title, and of a unit of UTF-16 in UTF-8: in the format in which each takes the most.
const MOST: Readonly<Record<"track" | "chapter" | "unit", number>> = { track: 1000, chapter: 100, unit: 3 };
// MP4 and MOV hold each title twice.
const TITLES = 2;

/** Returns the most bytes that the chapters take in the finished file of a plan. */
export function chapterBytes({ chapters, ...plan }: Plan, source: Source): number {
  const kept = chapters ? moveChapters(source.chapters ?? [], plan) : [];
  if (kept.length === 0) return 0;
  return kept.reduce((sum, { title }) => sum + MOST.chapter + TITLES * title.length * MOST.unit, MOST.track);
}
