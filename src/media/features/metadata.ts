import { z } from "zod";
import { type KeptRange, moveChapters, writeCommentChapters } from "../chapters.ts";
import { containerOf, isOgg } from "../containers.ts";
import { option, optionGroup } from "../feature.ts";
import { oneOf } from "../fields.ts";
import type { SourceFacts } from "../source-facts.ts";
import {
  COVER_CODECS,
  holdsTag,
  holdsTagValues,
  isLoudness,
  isPrivate,
  MAX_TAG_TEXT,
  METADATA_MODES,
  type MetadataMode,
  nameInFormat,
  type TagValues,
} from "../tags.ts";

const MODE_NAMES = {
  keep: "Keep all",
  clean: "Keep, except private data",
  strip: "Remove",
} as const satisfies Record<MetadataMode, string>;
const MODE_HINTS = {
  keep: "Keeps location and device too, where the format supports them.",
  clean: "Keeps title, artist and cover; removes location, device and software.",
  strip: "Removes all tags and the cover.",
} as const satisfies Record<MetadataMode, string>;

/** The tags, cover and chapters of an output. */
export const metadata = optionGroup({
  options: {
    metadata: option({
      kinds: ["video", "audio"],
      schema: oneOf(METADATA_MODES).optional().meta({
        description:
          "Which tags and covers are kept: `keep` keeps all that the format can hold, `clean` all but location, device, software and other private data, `strip` none.",
        default: "clean",
      }),
      default: "clean",
      copyable: true,
      placed: true,
      choices: ["clean", "keep", "strip"],
      words: {
        label: "Tags and cover",
        choice: (mode = "clean") => MODE_NAMES[mode],
        hint: (mode = "clean") => MODE_HINTS[mode],
      },
    }),
  },
});

/** The plan fields of metadata. */
export const METADATA_FIELDS = {
  tags: z.record(z.string().regex(/^[^=]{1,64}$/), z.string().max(MAX_TAG_TEXT)).exactOptional(),
  /** Index of the source's stream that is the cover. */
  cover: z.int().min(0).max(1000).exactOptional(),
  /** Whether the finished file gets chapters. */
  chapters: z.literal(true).exactOptional(),
};
type MetadataPlan = z.infer<z.ZodObject<typeof METADATA_FIELDS>>;

type Range = KeptRange;

/** Plans tags and cover, without loudness tags if the loudness changes; a `range` adds chapters in formats that store them as tags. */
export function planTags(
  source: SourceFacts,
  format: string,
  mode: MetadataMode = "clean",
  keepsLoudness = true,
  range?: Range,
): Pick<MetadataPlan, "tags" | "cover"> {
  if (mode === "strip") return {};
  const tags = Object.entries(source.tags ?? {}).filter(
    ([name]) =>
      (mode === "keep" || !isPrivate(name)) && holdsTag(format, name) && (keepsLoudness || !isLoudness(name)),
  );
  const { covers, chapters } = containerOf({ format });
  const cover = covers
    ? source.streams?.find(({ kind, codec }) => kind === "cover" && Object.hasOwn(COVER_CODECS, codec ?? ""))
    : undefined;
  if (range && chapters === "tags") {
    tags.push(...Object.entries(writeCommentChapters(moveChapters(source.chapters ?? [], range))));
  }
  return {
    ...(tags.length > 0 && { tags: Object.fromEntries(tags) }),
    ...(cover && { cover: cover.index }),
  };
}

/** Plans chapters that are added to the finished file; none when the range has none. */
export function planChapters(
  source: SourceFacts,
  format: string,
  mode: MetadataMode = "clean",
  range: Range,
): Pick<MetadataPlan, "chapters"> {
  if (mode === "strip" || containerOf({ format }).chapters !== "file") return {};
  return moveChapters(source.chapters ?? [], range).length > 0 ? { chapters: true } : {};
}

const TRACK_BYTES = 1000;
const CHAPTER_BYTES = 100;
const UNIT_BYTES = 3;
// MP4 and MOV store each title twice.
const TITLES = 2;

/** Returns the maximum bytes of the chapters in a plan's finished file. */
export function chapterBytes({ chapters, ...range }: Range & MetadataPlan, source: SourceFacts): number {
  const moved = chapters ? moveChapters(source.chapters ?? [], range) : [];
  if (moved.length === 0) return 0;
  return moved.reduce(
    (sum, { title }) => sum + CHAPTER_BYTES + TITLES * title.length * UNIT_BYTES,
    TRACK_BYTES,
  );
}

/** Returns whether a plan's cover is added to the finished file, because ffmpeg cannot write it. */
export function addsCoverLater({ cover, format }: MetadataPlan & { format: string }): boolean {
  return cover !== undefined && isOgg(format);
}

/** Returns the tags whose several values are written into the finished file, because ffmpeg can only join them. */
export function valuesAddedLater(
  { tags, format }: MetadataPlan & { format: string },
  source: SourceFacts,
): TagValues {
  if (!holdsTagValues(format)) return {};
  const entries = Object.entries(source.tag_values ?? {}).filter(
    ([name]) => tags?.[name] !== undefined && tags[name] === source.tags?.[name],
  );
  return Object.fromEntries(entries);
}

/** Returns the arguments that write a plan's tags and cover; they follow those of its tracks. */
export function metadataArgs(plan: MetadataPlan & { format: string; video: unknown }): string[] {
  const { tags = {}, cover, video, format } = plan;
  const index = video ? 1 : 0;
  return [
    ...(cover === undefined || addsCoverLater(plan) ? [] : ["-map", `0:${cover}?`, ...coverArgs(index)]),
    ...Object.entries(tags).flatMap(([name, value]) => [
      "-metadata",
      `${nameInFormat(name, format)}=${value}`,
    ]),
    ...(Object.keys(tags).length > 0 ? (containerOf({ format }).tag_args ?? []) : []),
  ];
}

// Earlier video arguments would apply to the cover too.
function coverArgs(index: number): string[] {
  const own = index > 0 ? [`-bsf:v:${index}`, "null", `-tag:v:${index}`, "0"] : [];
  return [`-c:v:${index}`, "copy", `-disposition:v:${index}`, "attached_pic", ...own];
}
