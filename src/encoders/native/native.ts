import { MediaError } from "../../media/errors.ts";
import { waitingBytes } from "../../media/features/parts-graph.ts";
import { refuseTools } from "../../media/ffmpeg/toolset.ts";
import type { Plan } from "../../media/plan.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import { sleep } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";
import type { ChunkJob, Encoder, RemoteFiles, Written } from "../encoder.ts";
import * as errors from "../errors.ts";
import {
  createNativeFeatures,
  endJob,
  followJob,
  isAway,
  NATIVE_TIMEOUTS,
  type NativeCall,
  type NativeInstance,
  type NativeTimeouts,
  startJob,
} from "./native-job.ts";
import { jobOnWire, NATIVE_PROTOCOL, type NativeJob, type NativeState } from "./native-wire.ts";

export type { NativeInstance } from "./native-job.ts";
export { NATIVE_TIMEOUTS, type NativeTimeouts } from "./native-job.ts";

/** Options of {@link createNativeEncoder}. */
export interface NativeEncoderOptions {
  /** The encoders; a chunk's index selects the one to try first. */
  instances: readonly NativeInstance[];
  /** Bearer token for the Authorization header; absent when they need none or the instance adds it. */
  token?: string | undefined;
  /** The lane of the jobs, such as their project: see {@link NativeJob}. */
  lane?: string | undefined;
  /** Timeouts that differ from {@link NATIVE_TIMEOUTS}. */
  timeouts?: Partial<NativeTimeouts> | undefined;
}

const MAX_STARTS = 3;

type Finished = Extract<NativeState, { state: "done" }>;
interface Submission {
  job: NativeJob;
  source: Source;
  /** The instances, in the order to try them. */
  instances: readonly NativeInstance[];
  signal: AbortSignal;
  onWait: () => void;
}

/** The client of native encoders. */
export interface NativeEncoder extends Encoder {
  /** Queries the encoders' features for `refuse`, unless a plan needs none. Never rejects. */
  prepare(plan: Plan): Promise<void>;
}

/**
 * Creates the client of native encoders: servers with native ffmpeg that read their input and store their output by URL. Each job goes
 * to an encoder with a free slot and all features of its plan. If that encoder disappears, returns an invalid response or loses the
 * job, another takes over, up to three starts.
 */
export function createNativeEncoder(options: NativeEncoderOptions): NativeEncoder {
  const { instances, token, lane } = options;
  const timeouts: NativeTimeouts = { ...NATIVE_TIMEOUTS, ...options.timeouts };
  const features = createNativeFeatures(instances, timeouts.answerMs);
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
  const callTo = (instance: NativeInstance, signal: AbortSignal): NativeCall => ({
    instance,
    headers,
    timeouts,
    signal,
  });

  async function encode(chunkJob: ChunkJob): Promise<Written> {
    const { plan, chunk, source, batch, signal } = chunkJob;
    const { onWait = () => {}, onProgress = () => {}, onCounts = () => {} } = chunkJob;
    if (instances.length === 0) throw unavailable({ code: "not_configured" });
    const { id, files } = await remoteFiles(chunkJob);
    const job: NativeJob = {
      protocol: NATIVE_PROTOCOL,
      id,
      ...jobOnWire(plan, source),
      chunk,
      ...files,
      ...(lane !== undefined && { lane }),
      ...(batch && { together: batch }),
    };
    const losses = new Map<NativeInstance, number>();
    const holders = new Set<NativeInstance>();
    let best = 0;
    const progress = (share: number) => {
      best = Math.max(best, share);
      onProgress(best);
    };
    try {
      for (let start = 1; ; start++) {
        const order = inOrder(instances, chunk.index, losses);
        const { instance, answer } = await submit({ job, source, instances: order, signal, onWait }, holders);
        try {
          const end = await followJob(callTo(instance, signal), job, answer, progress);
          if (end.state === "done") {
            onCounts(end.tally);
            return toWritten(end);
          }
          throw new MediaError(end.error.kind, end.error.message, end.error);
        } catch (thrown) {
          signal.throwIfAborted();
          if (!isLost(thrown) || start === MAX_STARTS) throw thrown;
          losses.set(instance, (losses.get(instance) ?? 0) + 1);
        }
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
      await Promise.all([...holders].map((instance) => endJob(callTo(instance, signal), id)));
      throw signal.reason;
    }
  }

  async function submit(
    { job, source, instances: order, signal, onWait }: Submission,
    holders: Set<NativeInstance>,
  ) {
    let lastAnswer = Date.now();
    let silentAttempts = 0;
    let fault: unknown;
    const unable = new Set<NativeInstance>();
    async function submitTo(instance: NativeInstance, waitMs: number) {
      if (!(await features.ask(instance, job.plan, signal))) {
        unable.add(instance);
        return null;
      }
      holders.add(instance);
      try {
        const answer = await startJob(callTo(instance, signal), job, waitMs);
        if (answer !== "busy") return { instance, answer };
        lastAnswer = Date.now();
        silentAttempts = 0;
        holders.delete(instance);
      } catch (thrown) {
        signal.throwIfAborted();
        if (!isLost(thrown)) throw thrown;
        fault = thrown;
        silentAttempts++;
      }
      return null;
    }

    for (const instance of order) {
      const started = await submitTo(instance, 0);
      if (started) return started;
    }
    for (let turn = 0, pause = timeouts.busyMs; ; turn++) {
      const able = order.filter((instance) => !unable.has(instance));
      if (able.length === 0) throw unavailable(refuse(job.plan, source) ?? { code: "not_configured" });
      const patience = isAway(fault) ? timeouts.awayMs : timeouts.restartMs;
      if (silentAttempts >= able.length && Date.now() - lastAnswer > patience) throw fault;
      onWait();
      signal.throwIfAborted();
      const startedAt = Date.now();
      const started = await submitTo(able[turn % able.length] as NativeInstance, timeouts.queueMs);
      if (started) return started;
      // The wait was cut short: the encoder is unreachable or shutting down.
      if (Date.now() - startedAt >= timeouts.queueMs / 2) continue;
      await sleep(pause * (0.5 + Math.random() / 2), signal);
      pause = Math.min(pause * 1.5, timeouts.busyMostMs);
    }
  }

  function refuse(plan: Plan, source: Source): RefusalReason | null {
    if (instances.length === 0) return { code: "not_configured" };
    const waiting = Math.max(...plan.chunks.map((chunk) => waitingBytes(plan, source, chunk)));
    if (waiting > MAX_WAITING) {
      return { code: "memory", needed_bytes: Math.ceil(waiting), available_bytes: MAX_WAITING };
    }
    return refuseTools(plan, source, features.tools(plan));
  }

  return { name: "native", prepare: features.prepare, refuse, encode };
}

/** Maximum bytes of decoded sound that an encoder holds in memory until earlier parts of the output are written. */
const MAX_WAITING = 1024 * MIB;

function unavailable(refusal: RefusalReason): MediaError {
  return errors.refused({ refusals: [{ encoder: "native", ...refusal }] });
}

async function remoteFiles({ id, remote, signal }: ChunkJob): Promise<{ id: string; files: RemoteFiles }> {
  signal.throwIfAborted();
  if (id !== undefined && remote) return { id, files: await remote() };
  throw errors.jobUrlsMissing();
}

function inOrder(
  instances: readonly NativeInstance[],
  index: number,
  losses: ReadonlyMap<NativeInstance, number>,
): NativeInstance[] {
  const at = index % Math.max(1, instances.length);
  const rotated = [...instances.slice(at), ...instances.slice(0, at)];
  return rotated.toSorted((a, b) => (losses.get(a) ?? 0) - (losses.get(b) ?? 0));
}

function isLost(thrown: unknown): boolean {
  return thrown instanceof MediaError && thrown.kind === "worker_lost";
}

function toWritten({ written, playlists }: Finished): Written {
  const encoder = new TextEncoder();
  return {
    written,
    playlists: playlists.map(({ name, mime, text }) => ({ name, mime, bytes: encoder.encode(text) })),
  };
}
