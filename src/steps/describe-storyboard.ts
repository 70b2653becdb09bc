import { MediaError } from "../core/errors.ts";
import type { Storage } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { STORYBOARD, sheetName } from "../ffmpeg/storyboard.ts";
import { type Plan, pictureSize } from "../plan/plan.ts";

/** Describes a storyboard: a Source of its sheets, with the URL of its WebVTT and a list of its files. */
export async function describeStoryboard(
  key: string,
  filesize: number,
  plan: Plan,
  storage: Storage,
  url: (key: string) => Promise<string>,
): Promise<Source> {
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const { image, duration } = plan;
  const sheets = Array.from({ length: image?.sheet?.sheets ?? 0 }, (_, index) => sheetName(plan, index));
  const files = [STORYBOARD.vtt, STORYBOARD.json, ...sheets].map(async (name) => {
    const info = await storage.head(folder + name);
    if (!info) throw new MediaError("encode_failed", "The encoded files are no longer in storage.");
    return { url: await url(folder + name), mime: info.mime, filesize: info.size };
  });
  return {
    object: "source",
    url: await url(key),
    kind: "image",
    format: plan.format,
    mime: "text/vtt",
    filesize,
    ...(image && pictureSize(image)),
    ...(duration !== null && { duration }),
    files: await Promise.all(files),
  };
}
