import type { Storage } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { parseMasterPlaylist } from "../ffmpeg/master-playlist.ts";
import type { Plan } from "../plan/plan.ts";

/** Describes adaptive video by its master playlist: a Source with its renditions, best first. */
export async function describeStream(
  key: string,
  filesize: number,
  plan: Plan,
  storage: Storage,
  url: (key: string) => Promise<string>,
): Promise<Source> {
  const master = await storage.read(key);
  const text = master ? await new Response(master.body).text() : "";
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const renditions = await Promise.all(
    parseMasterPlaylist(text).map(async ({ uri, ...facts }) => ({ ...facts, url: await url(folder + uri) })),
  );
  const best = renditions.toSorted((a, b) => b.bitrate - a.bitrate);
  const [first] = best;
  return {
    object: "source",
    url: await url(key),
    kind: "adaptive_video",
    format: plan.format,
    mime: master?.mime ?? "application/vnd.apple.mpegurl",
    filesize,
    ...(plan.duration === null ? {} : { duration: plan.duration }),
    ...(first?.width && first.height ? { width: first.width, height: first.height } : {}),
    codecs: { video: plan.video?.codec ?? null, audio: plan.audio?.codec ?? null },
    renditions: best,
  };
}
