import { z } from "zod";
import { EPSILON_SECONDS, formatClock, roundTime } from "./clock.ts";
import { BOUNDS } from "./formats.ts";

const chapter = z
  .object({
    start: z.number().min(0).meta({ description: "Seconds." }),
    end: z.number().min(0).meta({ description: "Seconds." }),
    title: z.string().meta({ description: "Title; empty if the chapter has none." }),
  })
  .meta({ id: "Chapter" });

/** A named part of a video or audio file. */
export type Chapter = z.infer<typeof chapter>;
/** The chapters of a Source, in order of time. */
export const Chapters = z.array(chapter);

/** A chapter as a file states it; without an end, it lasts until the next one. */
export interface FileChapter {
  start: number;
  end?: number | undefined;
  title: string;
}

/** Maximum chapters of a Source (as in MP4), and characters of a title. */
export const CHAPTER_LIMITS = { chapters: 255, title: 255 } as const;

/**
 * Sorts and bounds the chapters of a file of `duration` seconds; undefined when there are none. The times of the result count from the
 * first picture or sample, which is at `origin` seconds.
 */
export function readChapters(
  fileChapters: readonly FileChapter[],
  duration: number | null | undefined,
  origin = 0,
): Chapter[] | undefined {
  const stated = fileChapters
    .filter(({ start, end = start }) => start >= 0 && start <= BOUNDS.seconds.max && end >= start)
    .sort((a, b) => a.start - b.start)
    .slice(0, CHAPTER_LIMITS.chapters);
  const bounded = stated.map(({ start, end, title }, index) => ({
    start: boundTime(start),
    end: boundTime(end ?? stated[index + 1]?.start ?? Math.max(start, duration ?? start)),
    title: [...title.slice(0, 2 * CHAPTER_LIMITS.title).replaceAll("\0", "")]
      .slice(0, CHAPTER_LIMITS.title)
      .join(""),
  }));
  const chapters = origin > 0 ? moveChapters(bounded, { start: origin, duration: null }) : bounded;
  return chapters.length > 0 ? chapters : undefined;
}

// A file may state an end that JSON cannot represent.
function boundTime(seconds: number): number {
  return roundTime(Math.min(seconds, BOUNDS.seconds.max));
}

// OGM's names, which Ogg and FLAC use: CHAPTER001=00:00:01.500 and CHAPTER001NAME=Part.
const TIMED = /^chapter(\d{3})$/i;
const CLOCK = /^(\d+):(\d+):(\d+(?:\.\d+)?)$/;

/** Reads the chapters among the comments of Ogg or FLAC. */
export function readCommentChapters(comments: readonly (readonly [string, string])[]): FileChapter[] {
  const values = new Map(comments.map(([name, value]) => [name.toLowerCase(), value]));
  return comments.flatMap(([name, value]) => {
    const number = TIMED.exec(name)?.[1];
    const [, hours, minutes, seconds] = CLOCK.exec(value.trim()) ?? [];
    if (number === undefined || seconds === undefined) return [];
    const start = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    return [{ start, title: values.get(`chapter${number}name`) ?? "" }];
  });
}

/** The span of a source that an output contains, with its duration in the output. */
export interface KeptRange {
  start: number;
  duration: number | null;
  speed?: number;
  /** The ranges of the source in the order of the output, each with its start there; absent for a single range. */
  parts?: readonly { start: number; end: number; at: number }[];
}

/**
 * Converts chapters to the times of an output that begins at `start` seconds of the source, and clips them to its duration. A chapter
 * that several parts have appears once for those that follow each other.
 */
export function moveChapters(chapters: readonly Chapter[], range: KeptRange): Chapter[] {
  const { start, duration, speed = 1, parts } = range;
  if (parts) return moveToParts(chapters, parts, speed);
  const place = (time: number) =>
    boundTime(Math.min(Math.max(0, (time - start) / speed), duration ?? Number.POSITIVE_INFINITY));
  return chapters
    .map((chapter) => ({ ...chapter, start: place(chapter.start), end: place(chapter.end) }))
    .filter(({ start: from, end }) => end > from);
}

function moveToParts(
  chapters: readonly Chapter[],
  parts: NonNullable<KeptRange["parts"]>,
  speed: number,
): Chapter[] {
  const moved: (Chapter & { of: number })[] = [];
  for (const { start, end, at } of parts) {
    const length = (end - start) / speed;
    for (const [of, chapter] of chapters.entries()) {
      const [own] = moveChapters([chapter], { start, duration: length, speed });
      if (!own) continue;
      const placed = { ...own, start: boundTime(own.start + at), end: boundTime(own.end + at) };
      const last = moved.at(-1);
      // Each time is rounded by itself.
      const continues = last?.of === of && Math.abs(placed.start - last.end) < EPSILON_SECONDS;
      if (last && continues) last.end = placed.end;
      else moved.push({ ...placed, of });
    }
  }
  return moved.slice(0, CHAPTER_LIMITS.chapters).map(({ of: _, ...chapter }) => chapter);
}

/** Writes chapters as comments of Ogg or FLAC. */
export function writeCommentChapters(chapters: readonly Chapter[]): Record<string, string> {
  const comments = chapters.flatMap(({ start, title }, index) => {
    const name = `CHAPTER${String(index).padStart(3, "0")}`;
    return [[name, formatClock(Math.round(start * 1000))] as const, [`${name}NAME`, title] as const];
  });
  return Object.fromEntries(comments);
}
