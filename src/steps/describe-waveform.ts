import type { Storage } from "../core/ports.ts";
import type { Source, WaveformFacts } from "../core/source.ts";
import type { Plan } from "../plan/plan.ts";
import { requireEncoded } from "../storage/storage.ts";

/** Describes a waveform, of which a probe would read nothing but the size of a picture. */
export async function describeWaveform(
  key: string,
  waveform: WaveformFacts,
  { format, duration, waveform: planned }: Plan,
  storage: Storage,
  url: (key: string) => Promise<string>,
): Promise<Source> {
  const info = requireEncoded(await storage.head(key));
  const { width, height } = planned?.picture ?? {};
  return {
    object: "source",
    url: await url(key),
    kind: width === undefined ? "data" : "image",
    ...{ format, mime: info.mime, filesize: info.size },
    ...(width !== undefined && height !== undefined && { width, height }),
    ...(duration !== null && { duration }),
    waveform,
  };
}
