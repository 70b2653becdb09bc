import { MediaError } from "../../core/errors.ts";
import { refuseTools } from "../../ffmpeg/refuse-tools.ts";
import { NATIVE_TOOLS } from "../../ffmpeg/toolset.ts";
import { sleep } from "../../util/time.ts";
import { describeRefusals } from "../../words/refusal-words.ts";
import type { ChunkJob, Encoder, RemoteFiles, Written } from "../encoder.ts";
import type { NativeInstance } from "./native-call.ts";
import {
  endJob,
  followJob,
  isAway,
  NATIVE_TIMEOUTS,
  type NativeCall,
  type NativeTimeouts,
  startJob,
} from "./native-job.ts";
import { NATIVE_PROTOCOL, type NativeJob, type NativeState } from "./native-wire.ts";

export type { NativeInstance } from "./native-call.ts";
export { NATIVE_TIMEOUTS, type NativeTimeouts } from "./native-job.ts";

/** Options of {@link createNativeEncoder}. */
export interface NativeEncoderOptions {
  /** The encoders; a chunk's index selects the one to try first. */
  instances: readonly NativeInstance[];
  /** Bearer token for the Authorization header; absent when they need none or the instance adds it. */
  token?: string | undefined;
  /** The jobs' lane, such as the project that they are of: see {@link NativeJob}. */
  lane?: string | undefined;
  /** Timeouts that differ from {@link NATIVE_TIMEOUTS}. */
  timeouts?: Partial<NativeTimeouts> | undefined;
}

// How often a job is started in all, on any encoder.
const STARTS = 3;

type Finished = Extract<NativeState, { state: "done" }>;
interface Deal {
  job: NativeJob;
  /** In the order to try them. */
  instances: readonly NativeInstance[];
  signal: AbortSignal;
  onWait: () => void;
}

/**
 * Creates the client of native encoders: servers with native ffmpeg that read their input and store their output by URL.
 * Each job goes to one that has room. If that encoder disappears, returns an invalid answer or loses the job, another takes
 * over, up to three starts.
 */
export function createNativeEncoder(options: NativeEncoderOptions): Encoder {
  const { instances, token, lane, timeouts: waits } = options;
  const timeouts: NativeTimeouts = { ...NATIVE_TIMEOUTS, ...waits };
  const headers: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
  const callTo = (instance: NativeInstance, signal: AbortSignal): NativeCall => ({
    ...{ instance, headers, timeouts, signal },
  });

  async function encode(given: ChunkJob): Promise<Written> {
    const {
      plan,
      chunk,
      source,
      together,
      signal,
      onWait = () => {},
      onProgress = () => {},
      onTally = () => {},
    } = given;
    if (instances.length === 0) {
      const refusals = [{ encoder: "native", code: "not_configured" as const }];
      throw new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals });
    }
    const { id, files } = await placesOf(given);
    const job: NativeJob = {
      ...{ protocol: NATIVE_PROTOCOL, id, ...(lane !== undefined && { lane }) },
      ...{ plan, chunk, source, ...files, ...(together && { together }) },
    };
    // Losses by encoder; the ones that lost jobs come last.
    const losses = new Map<NativeInstance, number>();
    const asked = new Set<NativeInstance>();
    let best = 0;
    const progress = (share: number) => {
      best = Math.max(best, share);
      onProgress(best);
    };
    try {
      for (let start = 1; ; start++) {
        const order = inOrder(instances, chunk.index, losses);
        const { instance, answer } = await deal({ job, instances: order, signal, onWait }, asked);
        try {
          const end = await followJob(callTo(instance, signal), job, answer, progress);
          if (end.state === "done") {
            onTally(end.tally);
            return toWritten(end);
          }
          throw new MediaError(end.error.kind, end.error.message, end.error);
        } catch (thrown) {
          signal.throwIfAborted();
          if (!isLost(thrown) || start === STARTS) throw thrown;
          losses.set(instance, (losses.get(instance) ?? 0) + 1);
        }
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
      await Promise.all([...asked].map((instance) => endJob(callTo(instance, signal), id)));
      throw signal.reason;
    }
  }

  // Submits the job to the first encoder that accepts it; while all are busy, waits in the queue of one after the other, and for a
  // limited time while none can be reached.
  async function deal({ job, instances: order, signal, onWait }: Deal, asked: Set<NativeInstance>) {
    let lastAnswer = Date.now();
    // Tries in a row that no encoder answered.
    let silent = 0;
    let fault: unknown;
    async function submit(instance: NativeInstance, waitMs: number) {
      asked.add(instance);
      try {
        const answer = await startJob(callTo(instance, signal), job, waitMs);
        if (answer !== "busy") return { instance, answer };
        lastAnswer = Date.now();
        silent = 0;
        asked.delete(instance);
      } catch (thrown) {
        signal.throwIfAborted();
        if (!isLost(thrown)) throw thrown;
        fault = thrown;
        silent++;
      }
      return null;
    }

    for (const instance of order) {
      const started = await submit(instance, 0);
      if (started) return started;
    }
    for (let turn = 0, pause = timeouts.busyMs; ; turn++) {
      const patience = isAway(fault) ? timeouts.awayMs : timeouts.restartMs;
      if (silent >= order.length && Date.now() - lastAnswer > patience) throw fault;
      onWait();
      signal.throwIfAborted();
      const begun = Date.now();
      const started = await submit(order[turn % order.length] as NativeInstance, timeouts.queueMs);
      if (started) return started;
      // One that cannot be reached, or is about to end, queues no job.
      if (Date.now() - begun >= timeouts.queueMs / 2) continue;
      await sleep(pause * (0.5 + Math.random() / 2), signal);
      pause = Math.min(pause * 1.5, timeouts.busyMostMs);
    }
  }

  return {
    name: "native",
    refuse: (plan, source) =>
      instances.length > 0 ? refuseTools(plan, source, NATIVE_TOOLS) : { code: "not_configured" },
    encode,
  };
}

async function placesOf({ id, remote, signal }: ChunkJob): Promise<{ id: string; files: RemoteFiles }> {
  signal.throwIfAborted();
  if (id !== undefined && remote) return { id, files: await remote() };
  throw new MediaError(
    "encoder_unavailable",
    "The native encoder is on another machine, but the job has no URLs to read from and write to.",
  );
}

function inOrder(
  instances: readonly NativeInstance[],
  index: number,
  losses: ReadonlyMap<NativeInstance, number>,
): NativeInstance[] {
  const at = index % Math.max(1, instances.length);
  const dealt = [...instances.slice(at), ...instances.slice(0, at)];
  return dealt.toSorted((a, b) => (losses.get(a) ?? 0) - (losses.get(b) ?? 0));
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
