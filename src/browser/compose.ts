import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import type { Plan } from "../plan/index.ts";
import { probeMedia } from "../probe/probe.ts";
import { readStill } from "../probe/still.ts";
import { createOpfsStorage } from "../storage/opfs.ts";
import { createRangeCache, type FetchRange } from "../storage/range-cache.ts";
import { createPageAsks } from "./ask-page.ts";
import { chooseWay, type LocalEncoder } from "./choose-way.ts";
import { createConnections } from "./connections.ts";
import { createLocalEncoders } from "./local-encoders.ts";
import { createLocalUrls } from "./local-urls.ts";
import type { MediaApi, MediaEvent, MediaSettings } from "./media-api.ts";
import { createMediaHost } from "./media-host.ts";
import { openRunStores } from "./run-stores.ts";

// A browser takes its while for each read, and a probe has thousands of small ones of a file that is damaged.
const READING = { ahead: 65_536, most: 1_048_576, keep: 8_388_608 } as const;

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
  const page = createPageAsks(tell);
  const host = createMediaHost(
    {
      ...{ settings, stores, storage, encoders: ordered },
      urls: createLocalUrls(settings.name),
      connections: createConnections(settings.connections, page.sign),
      // While one is put together the next is encoded.
      runs_at_once: pool.workers + 1,
      route: (plan, source) => chooseWay(ordered, plan, source),
      async prepare(plan: Plan, source: Source) {
        await Promise.all(ordered.map((encoder) => encoder.prepare?.(plan, source)));
      },
      inFlight: (encoder) => (encoder as LocalEncoder).workers ?? 1,
      probe(reader, given, signal, onWait) {
        const fetchRange: FetchRange = (range, until) => reader.read(range, until);
        const cached = createRangeCache(reader.size, fetchRange, READING);
        const look = async (_: ByteReader, until: AbortSignal) =>
          (await readStill(cached, until)) ?? pool.probe(reader, until, onWait);
        return probeMedia(cached, given, look, signal);
      },
    },
    tell,
  );
  return { ...host, signed: page.signed };
}
