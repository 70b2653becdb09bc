import { isIsobmff } from "../../media/containers.ts";
import { MediaError } from "../../media/errors.ts";
import { sourceForTrack } from "../../media/features/track.ts";
import type { Chunk, Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { repairMatroska } from "../../probe/matroska.ts";
import { findMovieIndex } from "../../probe/mp4.ts";
import type { ByteRange, ByteReader } from "../../runs/ports.ts";
import { limitTime, sleep } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";
import { takeSound } from "../copy.ts";
import type { ChunkJob, EncodedFile, Encoder } from "../encoder.ts";
import * as errors from "../errors.ts";
import { secondsOf } from "../wasm/wasm-costs.ts";
import { FRAME_MIME, type FrameReader, readFrames, writeFrame } from "../wire-frame.ts";
import {
  chooseLevel,
  coreOf,
  LIGHT_LIMITS,
  type LightLimits,
  lightChunkSeconds,
  refuseLight,
  soundBytes,
} from "./light-estimate.ts";
import { firstRange, type LightJob } from "./light-job.ts";
import type { FfprobeReport } from "./light-probe.ts";
import {
  type LightHealth,
  type LightMessage,
  type LightRequest,
  readLightMessage,
  toError,
} from "./light-wire.ts";

/** Options of {@link createLightEncoder}. */
export interface LightEncoderOptions {
  /** Sends a request to the Worker in worker/encoder: a service binding's `fetch`, or one that adds its address. */
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Limits that differ from {@link LIGHT_LIMITS}. */
  limits?: Partial<LightLimits>;
}

/** The light encoder, which can also probe files. */
export interface LightEncoder extends Encoder {
  /** Encodes one chunk into files in memory; rejects with a MediaError. */
  encode(job: ChunkJob): Promise<EncodedFile[]>;
  /**
   * Returns ffprobe's report on a file from only the ranges that it needs. Rejects with `input_unsupported` when it is not media.
   */
  probe(input: ByteReader, signal: AbortSignal, onWait?: () => void): Promise<FfprobeReport>;
  /** Asks until it is known whether the encoder has the fast core; until then, estimates are those of the stock core. Never rejects. */
  prepare(): Promise<void>;
  /** Estimates the seconds of work in a plan; null when its duration is unknown. */
  seconds(plan: Plan, source: Source): number | null;
  /** Returns the seconds of source, 2 to 60, that a chunk of a plan should span for this encoder: a hint for `createPlan`. */
  chunkSeconds(plan: Plan, source: Source): number;
}

const MAX_ROUNDS = 24;
const SLICE = MIB;
const PREFETCH_BYTES = 8 * SLICE;
const CACHE_BYTES = 8 * SLICE;
const SOUND_ALONE_COVER = 2;
const MAX_TABLE_BYTES = 16 * MIB;
const BUSY_WAIT_MS = { min: 300, max: 1500 };

type Done = Extract<LightMessage, { state: "done" }>;
interface Sending {
  input: ByteReader;
  /** Sent whole each time, behind the input. */
  extra?: readonly ByteReader[];
  signal: AbortSignal;
  onWait: () => void;
}

/** Creates the client of the light encoder: stock ffmpeg as wasm in a separate Worker, for small jobs. */
export function createLightEncoder(options: LightEncoderOptions): LightEncoder {
  const limits: LightLimits = { ...LIGHT_LIMITS, ...options.limits };
  let hasFast: boolean | null = null;
  const coreFor = (plan: Plan, source: Source) => coreOf(plan, source, hasFast === true);

  async function run(job: LightJob, sending: Sending): Promise<{ done: Done; files: EncodedFile[] }> {
    const input = cacheSlices(joinReaders(sending.input, sending.extra ?? []));
    const behind = { start: job.size, end: input.size };
    const ranges = [
      firstRange(job),
      ...(await findTables(job, sending.input)),
      ...(behind.start < behind.end ? [behind] : []),
    ];
    for (let round = 0; round < MAX_ROUNDS; ) {
      // Fetch slow bytes first, because other jobs wait while this one occupies the encoder.
      if (job.kind === "probe") await fetchAhead(ranges, input, sending.signal);
      else await prefetchAll(ranges, sending);
      const reply = await send(job, ranges, { ...sending, input }).catch(async (thrown: unknown) => {
        const isLost = thrown instanceof MediaError && thrown.kind === "worker_lost";
        if (isLost) await awaitHealth(options.fetch, limits.awaySeconds * 1000, sending);
        throw thrown;
      });
      if (reply === "busy") {
        await sleep(BUSY_WAIT_MS.min + Math.random() * (BUSY_WAIT_MS.max - BUSY_WAIT_MS.min), sending.signal);
        sending.onWait();
      } else if ("range" in reply) {
        ranges.push(reply.range);
        round++;
      } else {
        return reply;
      }
    }
    throw errors.scatteredInput({ job: job.kind });
  }

  async function send(job: LightJob, ranges: ByteRange[], { input, signal, onWait }: Sending) {
    const completion = new AbortController();
    const silence = limitTime(limits.silenceSeconds * 1000, {
      signal: AbortSignal.any([signal, completion.signal]),
    });
    const deadline = silence.signal;
    // fetch hides errors of the body stream behind its own.
    let fault: unknown;
    try {
      const parts = ranges
        .flatMap((range) => slices(range, input, deadline))
        .map((part) => async () => {
          try {
            return await part();
          } catch (thrown) {
            fault = thrown;
            throw thrown;
          }
        });
      const request: LightRequest = { job, ranges };
      const response = await options.fetch("http://framewright-encoder/", {
        method: "POST",
        headers: { "Content-Type": FRAME_MIME },
        body: writeFrame(request, parts),
        signal: deadline,
        // Node requires this for stream bodies; others ignore it.
        ...{ duplex: "half" },
      });
      return await receive(response, () => {
        silence.restart();
        onWait();
      });
    } catch (thrown) {
      completion.abort();
      if (signal.aborted) throw signal.reason;
      if (fault) throw fault;
      throw thrown instanceof MediaError ? thrown : errors.lightLost({ cause: thrown });
    } finally {
      silence.clear();
    }
  }

  return {
    name: "light",
    async prepare() {
      if (hasFast !== null) return;
      const health = await askHealth(options.fetch);
      if (health) hasFast = health.fast === true;
    },
    refuse: (plan, source) => refuseLight(plan, source, limits, coreFor(plan, source)),
    chunkSeconds: (plan, source) => lightChunkSeconds(plan, source, limits, coreFor(plan, source)),
    seconds(plan, source) {
      const level = chooseLevel(plan, source, limits.memory);
      const time = secondsOf(plan, source, level, coreFor(plan, source));
      return time && time.pictures + time.sound;
    },
    async encode({ plan, chunk, source, input, extra, signal, onWait = () => {}, onCounts = () => {} }) {
      const sound = await extractSound({ plan, chunk, source, input, signal });
      // The core would hold the damaged bytes in memory.
      const file = sound ?? (await repairMatroska(input, source.format, signal));
      const own = sound ? planForSound(plan, chunk) : plan;
      const job: LightJob = {
        kind: "encode",
        size: file.size,
        plan: own,
        chunk,
        source: sound ? sourceForTrack(source, plan) : source,
        ...(extra && { further: extra.map(({ size }) => size) }),
      };
      const { done, files } = await run(job, { input: file, ...(extra && { extra }), signal, onWait });
      onCounts(done.tally);
      return files;
    },
    async probe(input, signal, onWait = () => {}) {
      const { done } = await run({ kind: "probe", size: input.size }, { input, signal, onWait });
      if (!done.report) throw errors.lightReportMissing();
      return done.report;
    },
  };
}

// The core would request the tables of a long MP4 piece by piece and start over for each piece.
async function findTables(job: LightJob, input: ByteReader): Promise<ByteRange[]> {
  if (job.kind === "probe" || !isIsobmff(job.source.format)) return [];
  const { end } = firstRange(job);
  if (end === job.size) return [];
  const index = await findMovieIndex(input).catch(() => null);
  const isReadable = index && index.start >= end && index.end - index.start <= MAX_TABLE_BYTES;
  return isReadable ? [index] : [];
}

function needsCover({ cover }: Pick<Plan, "cover">, { track }: Chunk): boolean {
  return cover !== undefined && track === "all";
}

function planForSound({ sound_track: _, ...plan }: Plan, chunk: Chunk): Plan {
  return needsCover(plan, chunk) ? { ...plan, cover: SOUND_ALONE_COVER } : plan;
}

async function extractSound({ plan, chunk, source, input, signal }: ChunkJob): Promise<ByteReader | null> {
  if (soundBytes(input.size, plan, chunk, source) === null) return null;
  const options = { withCover: needsCover(plan, chunk), track: plan.sound_track ?? 0 };
  const bytes = await takeSound(input, source, signal, options).catch((thrown: unknown) => {
    if (signal.aborted || thrown instanceof MediaError) throw thrown;
    return null;
  });
  return bytes && { size: bytes.length, read: async ({ start, end }) => bytes.subarray(start, end) };
}

async function receive(response: Response, onSign: () => void) {
  if (!response.body || response.headers.get("Content-Type") !== FRAME_MIME) {
    await response.body?.cancel();
    throw errors.lightStatus({ status: response.status });
  }
  const frames = readFrames(response.body, "worker_lost");
  for (;;) {
    const message = await readLightMessage(frames);
    if (!message) throw errors.lightLost();
    if (message.state === "waiting" || message.state === "running") {
      onSign();
      continue;
    }
    const files = message.state === "done" ? await readFiles(frames, message) : [];
    await frames.drain();
    if (message.state === "need") return message;
    if (message.state === "done") return { done: message, files };
    if (message.kind === "service_unavailable") return "busy";
    throw toError(message);
  }
}

async function readFiles(frames: FrameReader, { files }: Done): Promise<EncodedFile[]> {
  const received: EncodedFile[] = [];
  for (const { name, mime, size } of files) received.push({ name, mime, bytes: await frames.bytes(size) });
  return received;
}

function slices(range: ByteRange, input: ByteReader, signal: AbortSignal): (() => Promise<Uint8Array>)[] {
  const parts: (() => Promise<Uint8Array>)[] = [];
  for (let start = range.start; start < range.end; start += SLICE) {
    const slice = { start, end: Math.min(start + SLICE, range.end) };
    parts.push(async () => {
      const bytes = await input.read(slice, signal);
      if (bytes.length === slice.end - slice.start) return bytes;
      throw errors.shortInput();
    });
  }
  return parts;
}

async function fetchAhead(
  ranges: readonly ByteRange[],
  input: ByteReader,
  signal: AbortSignal,
): Promise<void> {
  const total = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  if (total > CACHE_BYTES) return;
  for (const range of ranges) for (const part of slices(range, input, signal)) await part();
}

async function prefetchAll(ranges: readonly ByteRange[], { input, signal, onWait }: Sending): Promise<void> {
  if (!input.prefetch) return;
  for (const range of ranges.filter(({ end }) => end <= input.size)) {
    for (let start = range.start; start < range.end; start += PREFETCH_BYTES) {
      signal.throwIfAborted();
      await input.prefetch({ start, end: Math.min(range.end, start + PREFETCH_BYTES) });
      onWait();
    }
  }
}

function cacheSlices(input: ByteReader): ByteReader {
  const slices = new Map<string, Uint8Array>();
  let cachedBytes = 0;
  return {
    size: input.size,
    async read(range, signal) {
      const name = `${range.start}-${range.end}`;
      const cached = slices.get(name);
      if (cached) return cached;
      const bytes = await input.read(range, signal);
      if (cachedBytes + bytes.length <= CACHE_BYTES) {
        slices.set(name, bytes);
        cachedBytes += bytes.length;
      }
      return bytes;
    },
  };
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const HEALTH_PAUSE_MS = { first: 250, max: 4000 };
const ANSWER_MS = 10_000;

/** Returns the light encoder's health; null without a response in ten seconds. Never rejects. */
async function askHealth(fetch: Fetch, signal?: AbortSignal): Promise<Partial<LightHealth> | null> {
  const limit = AbortSignal.timeout(ANSWER_MS);
  try {
    const init = { method: "GET", signal: signal ? AbortSignal.any([signal, limit]) : limit };
    return (await (await fetch("http://framewright-encoder/health", init)).json()) as Partial<LightHealth>;
  } catch {
    return null;
  }
}

/** Waits up to `ms` milliseconds until the light encoder responds; rejects with the signal's reason when it aborts. */
async function awaitHealth(
  fetch: Fetch,
  ms: number,
  { signal, onWait }: { signal: AbortSignal; onWait: () => void },
): Promise<void> {
  const end = Date.now() + ms;
  for (
    let pause = HEALTH_PAUSE_MS.first;
    Date.now() < end;
    pause = Math.min(2 * pause, HEALTH_PAUSE_MS.max)
  ) {
    const answer = await askHealth(fetch, signal);
    if (answer?.status === "ok") return;
    onWait();
    await sleep(Math.min(pause, Math.max(0, end - Date.now())), signal);
  }
}

/** Joins an input and its extra files, whose ranges continue from the end of the input. */
function joinReaders(input: ByteReader, extra: readonly ByteReader[]): ByteReader {
  const size = extra.reduce((sum, each) => sum + each.size, input.size);
  return {
    size,
    async read(range, signal) {
      if (range.end <= input.size) return input.read(range, signal);
      const parts: Uint8Array<ArrayBuffer>[] = [];
      let base = input.size;
      for (const each of extra) {
        const [start, end] = [Math.max(0, range.start - base), Math.min(each.size, range.end - base)];
        if (start < end) parts.push(new Uint8Array(await each.read({ start, end }, signal)));
        base += each.size;
      }
      return new Uint8Array(await new Blob(parts).arrayBuffer());
    },
  };
}
