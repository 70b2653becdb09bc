import type { Plan } from "../plan/plan.ts";

// Their muxers cannot write covers; the cover is added to the finished file.
const COVERS_LATER: ReadonlySet<string> = new Set(["ogg", "opus"]);

/** Returns whether a plan's cover is added to the finished file because ffmpeg cannot write it. */
export function addsCoverLater({ cover, format }: Plan): boolean {
  return cover !== undefined && COVERS_LATER.has(format);
}

/** Returns the arguments that write a plan's tags and cover; they follow those of its tracks. */
export function metadataArgs(plan: Plan): string[] {
  const { tags = {}, cover, video, format } = plan;
  const place = video ? 1 : 0;
  return [
    ...(cover === undefined || addsCoverLater(plan) ? [] : ["-map", `0:${cover}?`, ...coverArgs(place)]),
    ...Object.entries(tags).flatMap(([name, value]) => ["-metadata", `${name}=${value}`]),
    // ADTS has no tags of its own; they precede it, as in MP3.
    ...(format === "aac" && Object.keys(tags).length > 0 ? ["-write_id3v2", "1"] : []),
  ];
}

// The video arguments before it apply to all pictures unless overridden.
function coverArgs(place: number): string[] {
  const own = place > 0 ? [`-bsf:v:${place}`, "null", `-tag:v:${place}`, "0"] : [];
  return [`-c:v:${place}`, "copy", `-disposition:v:${place}`, "attached_pic", ...own];
}
