import type { Storage } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { spriteName } from "../ffmpeg/output.ts";
import type { Sprite } from "../media/features/storyboard.ts";
import { STORYBOARD } from "../media/features/storyboard-graph.ts";
import { type Plan, pictureSize } from "../plan/plan.ts";
import { requireEncoded } from "../storage/encoded-file.ts";

/**
 * Describes a storyboard or several stills: a Source of its pictures, with the URL of its WebVTT, or of the first still, and a list
 * of its files.
 */
export async function describeSprites(
  key: string,
  filesize: number,
  plan: Plan,
  storage: Storage,
  url: (key: string) => Promise<string>,
): Promise<Source> {
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const { mime } = requireEncoded(await storage.head(key));
  const { image, duration } = plan;
  const files = image?.sheet ? filesOf(plan, image.sheet) : [];
  const described = files.map(async ({ name, ...facts }) => {
    const info = requireEncoded(await storage.head(folder + name));
    return { url: await url(folder + name), mime: info.mime, filesize: info.size, ...facts };
  });
  return {
    object: "source",
    url: await url(key),
    kind: "image",
    format: plan.format,
    mime,
    filesize,
    ...(image && pictureSize(image)),
    ...(plan.kind === "storyboard" && duration !== null && { duration }),
    files: await Promise.all(described),
  };
}

function filesOf(plan: Plan, { sheets, interval }: Sprite): { name: string; time?: number }[] {
  const names = Array.from({ length: sheets }, (_, index) => spriteName(plan, index));
  if (plan.kind === "storyboard")
    return [STORYBOARD.vtt, STORYBOARD.json, ...names].map((name) => ({ name }));
  return names.map((name, index) => ({ name, time: Number((plan.start + index * interval).toFixed(3)) }));
}
