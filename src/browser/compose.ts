import type { Source } from "../core/source.ts";
import type { Plan } from "../plan/index.ts";
import { probeMedia } from "../probe/probe.ts";
import { createOpfsStorage } from "../storage/opfs.ts";
import { chooseWay, type LocalEncoder } from "./choose-way.ts";
import { createLocalEncoders } from "./local-encoders.ts";
import { createLocalUrls } from "./local-urls.ts";
import type { MediaApi, MediaEvent, MediaSettings } from "./media-api.ts";
import { createMediaHost } from "./media-host.ts";
import { openRunStores } from "./run-stores.ts";

/** Puts the media worker together: what it stores with, its encoders, and the host over them. Rejects when the browser lets nothing be stored. */
export async function compose(
  settings: MediaSettings,
  tell: (event: MediaEvent) => void,
): Promise<Omit<MediaApi, "open">> {
  const [stores, storage] = await Promise.all([
    openRunStores(settings.name),
    createOpfsStorage(settings.name),
  ]);
  const { ordered, pool } = createLocalEncoders(settings);
  return createMediaHost(
    {
      ...{ settings, stores, storage, encoders: ordered },
      urls: createLocalUrls(settings.name),
      // While one is put together the next is encoded.
      runs_at_once: pool.workers + 1,
      route: (plan, source) => chooseWay(ordered, plan, source),
      async prepare(plan: Plan, source: Source) {
        await Promise.all(ordered.map((encoder) => encoder.prepare?.(plan, source)));
      },
      inFlight: (encoder) => (encoder as LocalEncoder).workers ?? 1,
      probe: (reader, given, signal, onWait) =>
        probeMedia(reader, given, (input, until) => pool.probe(input, until, onWait), signal),
    },
    tell,
  );
}
