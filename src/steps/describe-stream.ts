import type { Storage } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { parseDash } from "../ffmpeg/manifests/dash-manifest.ts";
import { parseMasterPlaylist } from "../ffmpeg/manifests/master-playlist.ts";
import type { Plan } from "../plan/plan.ts";
import { requireEncoded } from "../storage/storage.ts";

/**
 * Describes adaptive video by its master playlist or DASH manifest: a Source with its renditions, best first. Those of DASH have
 * no URLs of their own, so each has the manifest's.
 */
export async function describeStream(
  key: string,
  filesize: number,
  plan: Plan,
  storage: Storage,
  url: (key: string) => Promise<string>,
): Promise<Source> {
  const { body, mime } = requireEncoded(await storage.read(key));
  const text = await new Response(body).text();
  const own = key.slice(key.lastIndexOf("/") + 1);
  const entries =
    plan.format === "dash"
      ? parseDash(text).map((entry) => ({ uri: own, ...entry }))
      : parseMasterPlaylist(text);
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const renditions = await Promise.all(
    entries.map(async ({ uri, ...facts }) => ({ ...facts, url: await url(folder + uri) })),
  );
  const best = renditions.toSorted((a, b) => b.bitrate - a.bitrate);
  const [first] = best;
  return {
    object: "source",
    url: await url(key),
    kind: "adaptive_video",
    format: plan.format,
    mime,
    filesize,
    ...(plan.duration === null ? {} : { duration: plan.duration }),
    ...(first?.width && first.height ? { width: first.width, height: first.height } : {}),
    codecs: { video: plan.video?.codec ?? null, audio: plan.audio?.codec ?? null },
    renditions: best,
  };
}
