import { createScriptFonts, loadFont } from "../../encoders/wasm/load-core.ts";
import { probeMedia } from "../../probe/probe.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { createOpfsStorage } from "../../storage/opfs.ts";
import { createRangeCache, type FetchRange } from "../../storage/readers.ts";
import { type IndexedDbStores, openIndexedDb } from "../../stores/indexeddb.ts";
import { KIB, MIB } from "../../util/bytes.ts";
import { createConnections } from "../connections.ts";
import { createLocalEncoders } from "../encoders/local-encoders.ts";
import { type LocalEncoder, localOffers } from "../encoders/local-offers.ts";
import type { MediaApi, MediaEvent, MediaSettings } from "../media-api.ts";
import { type Port, serveOver } from "../rpc.ts";
import { createLocalUrls } from "./local-files.ts";
import { createMediaHost } from "./media-host.ts";
import { createPageRequests } from "./page-requests.ts";
import { bufferTerminal, type RunStores } from "./run-records.ts";

// Reads from the browser are slow, and probing a damaged file takes thousands of small ones.
const READING = { minAhead: 64 * KIB, maxAhead: MIB, cacheBytes: 8 * MIB } as const;

async function compose(
  settings: MediaSettings,
  tell: (event: MediaEvent) => void,
): Promise<Omit<MediaApi, "open">> {
  const [stores, storage] = await Promise.all([
    openRunStores(settings.name),
    createOpfsStorage(settings.name),
  ]);
  const page = createPageRequests(tell);
  const { ordered, pool } = createLocalEncoders(settings, page.draw);
  const host = createMediaHost(
    {
      settings,
      stores,
      storage,
      encoders: ordered,
      urls: createLocalUrls(settings.name),
      connections: createConnections(settings.connections, page.sign),
      // A run encodes while another is stitched.
      runs_at_once: pool.workers + 1,
      font: () => loadFont(settings.core ?? {}),
      scriptFonts: createScriptFonts(settings.core ?? {}),
      offers: (plan, source, missed) => localOffers(ordered, plan, source, missed),
      inFlight: (encoder) => (encoder as LocalEncoder).workers ?? 1,
      probe(reader, input, signal, onWait) {
        const fetchRange: FetchRange = (range, until) => reader.read(range, until);
        const cached = createRangeCache(reader.size, fetchRange, READING);
        const ffprobe = (input: ByteReader, until: AbortSignal) =>
          pool.probe(input === cached ? reader : input, until, onWait);
        return probeMedia(cached, input, ffprobe, signal);
      },
    },
    tell,
  );
  return { ...host, signed: page.signed, drawn: page.drawn };
}

/** Opens the stores; rejects with `service_unavailable` when the browser allows no database, or another tab blocks it. */
async function openRunStores(name: string): Promise<RunStores> {
  const { tasks, steps, jobs, inputs, pieces, recordBytes }: IndexedDbStores = await openIndexedDb({ name });
  return bufferTerminal({
    get: (type, id) => (type === "task" ? tasks.get(id) : steps.get(id)),
    put: (record) => (record.object === "task" ? tasks.put(record) : steps.put(record)),
    delete: ({ object, id }) => (object === "task" ? tasks.delete(id) : steps.delete(id)),
    list: (type, query) => (type === "task" ? tasks.list(query) : steps.list(query)),
    all: async () => [...(await tasks.all()), ...(await steps.all())],
    jobs,
    inputs,
    pieces,
    recordBytes,
  });
}

type Host = Omit<MediaApi, "open">;

const opened = Promise.withResolvers<Host>();
opened.promise.catch(() => {});

const api: MediaApi = {
  async open(settings) {
    compose(settings, tell).then(opened.resolve, opened.reject);
    await opened.promise;
  },
  create: async (...args) => (await opened.promise).create(...args),
  get: async (...args) => (await opened.promise).get(...args),
  state: async (...args) => (await opened.promise).state(...args),
  list: async (...args) => (await opened.promise).list(...args),
  cancel: async (...args) => (await opened.promise).cancel(...args),
  retry: async (...args) => (await opened.promise).retry(...args),
  remove: async (...args) => (await opened.promise).remove(...args),
  files: async (...args) => (await opened.promise).files(...args),
  waiting: async (...args) => (await opened.promise).waiting(...args),
  resume: async (...args) => (await opened.promise).resume(...args),
  handle: async (...args) => (await opened.promise).handle(...args),
  usage: async (...args) => (await opened.promise).usage(...args),
  clear: async (...args) => (await opened.promise).clear(...args),
  sending: async (...args) => (await opened.promise).sending(...args),
  followed: async (...args) => (await opened.promise).followed(...args),
  createJob: async (...args) => (await opened.promise).createJob(...args),
  getJob: async (...args) => (await opened.promise).getJob(...args),
  listJobs: async (...args) => (await opened.promise).listJobs(...args),
  cancelJob: async (...args) => (await opened.promise).cancelJob(...args),
  removeJob: async (...args) => (await opened.promise).removeJob(...args),
  estimate: async (...args) => (await opened.promise).estimate(...args),
  refine: async (...args) => (await opened.promise).refine(...args),
  preview: async (...args) => (await opened.promise).preview(...args),
  show: async (...args) => (await opened.promise).show(...args),
  filmstrip: async (...args) => (await opened.promise).filmstrip(...args),
  nextPicture: async (...args) => (await opened.promise).nextPicture(...args),
  endSample: async (...args) => (await opened.promise).endSample(...args),
  drawn: async (...args) => (await opened.promise).drawn(...args),
  signed: async (...args) => (await opened.promise).signed(...args),
};

const tell = serveOver<MediaApi, MediaEvent>(globalThis as unknown as Port, api);
