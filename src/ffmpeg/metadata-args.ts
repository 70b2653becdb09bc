import type { Plan } from "../plan/plan.ts";

// Their muxers know no cover; one that the plan has is put into the finished file.
const COVERS_LATER: ReadonlySet<string> = new Set(["ogg", "opus"]);

/** Whether a plan's cover is not written by ffmpeg, but put into the file that it wrote. */
export function addsCoverLater({ cover, format }: Plan): boolean {
  return cover !== undefined && COVERS_LATER.has(format);
}

/** Returns the arguments that write a plan's tags and cover, to stand behind those of its tracks. */
export function metadataArgs(plan: Plan): string[] {
  const { tags = {}, cover, video, format } = plan;
  const place = video ? 1 : 0;
  return [
    ...(cover === undefined || addsCoverLater(plan) ? [] : ["-map", `0:${cover}?`, ...coverArgs(place)]),
    ...Object.entries(tags).flatMap(([name, value]) => ["-metadata", `${name}=${value}`]),
    // ADTS has no tags of its own; they go in front of it, as they do in MP3.
    ...(format === "aac" && Object.keys(tags).length > 0 ? ["-write_id3v2", "1"] : []),
  ];
}

// What the pictures before it are written with is for all pictures, unless said otherwise.
function coverArgs(place: number): string[] {
  const own = place > 0 ? [`-bsf:v:${place}`, "null", `-tag:v:${place}`, "0"] : [];
  return [`-c:v:${place}`, "copy", `-disposition:v:${place}`, "attached_pic", ...own];
}
