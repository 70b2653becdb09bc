import type { ByteReader } from "../../core/ports.ts";
import { probeMedia } from "../../probe/probe.ts";
import { readStill } from "../../probe/still.ts";
import { createRangeCache, type FetchRange } from "../../storage/http/range-cache.ts";
import { createOpfsStorage } from "../../storage/opfs/opfs.ts";
import { KIB, MIB } from "../../util/bytes.ts";
import { createConnections } from "../connections.ts";
import { createLocalEncoders } from "../encoders/local-encoders.ts";
import { type LocalEncoder, localOffers } from "../encoders/local-offers.ts";
import { createLocalUrls } from "../files/local-urls.ts";
import type { MediaApi, MediaEvent, MediaSettings } from "../media-api.ts";
import { createPageAsks } from "./ask-page.ts";
import { createMediaHost } from "./media-host.ts";
import { openRunStores } from "./run-stores.ts";

// Each read from the browser has a cost, and probing a damaged file takes thousands of small ones.
const READING = { ahead: 64 * KIB, most: MIB, keep: 8 * MIB } as const;

/**
 * Assembles the media worker: its stores, its encoders, and the host on top of them. Rejects when the browser allows no
 * storage.
 */
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
      // So that the next run encodes while one is stitched.
      runs_at_once: pool.workers + 1,
      offers: (plan, source) => localOffers(ordered, plan, source),
      inFlight: (encoder) => (encoder as LocalEncoder).workers ?? 1,
      probe(reader, given, signal, onWait) {
        const fetchRange: FetchRange = (range, until) => reader.read(range, until);
        const cached = createRangeCache(reader.size, fetchRange, READING);
        // Encoder workers read a page's file themselves.
        const look = async (input: ByteReader, until: AbortSignal) =>
          (await readStill(cached, until)) ?? pool.probe(input === cached ? reader : input, until, onWait);
        return probeMedia(cached, given, look, signal);
      },
    },
    tell,
  );
  return { ...host, signed: page.signed };
}
