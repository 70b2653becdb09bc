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

/** Plans the chapters of an output whose finished file gets them. */
export function planChapters(
  source: Source,
  format: string,
  mode: MetadataMode = "clean",
): Pick<Plan, "chapters"> {
  const kept = source.chapters && mode !== "strip" && CHAPTER_PLACES.get(format) === "file";
  return kept ? { chapters: true } : {};
}
