import { type Chunk, outputSeconds, type Plan } from "../../media/plan.ts";
import type { Counts, Cuts, Source, WaveformFacts } from "../../media/source.ts";
import type { ByteReader, Durably, Storage } from "../../runs/ports.ts";
import type { Encoder, JobBatch, RemoteFiles } from "../encoder.ts";
import { secondsOf, X264_AMPLE } from "../wasm/wasm-costs.ts";

export interface EncodeRun {
  /**
   * Prefix of the job ids, each followed by `-` and the chunk's index, so that running jobs are found again after a restart.
   */
  id: string;
  plan: Plan;
  source: Source;
  /** Opens the source for random access; called once for each chunk. */
  input(): Promise<ByteReader>;
  /** Opens the extra files of the plan, once for each chunk that reads them; absent where it has none. */
  extra?: () => Promise<ByteReader[]>;
  /** Opens the extra input with a number, for the text track made from it; absent where the plan has none. */
  text?: (file: number) => Promise<ByteReader>;
  encoder: Encoder;
  /** The batch of the run's jobs; absent for none. */
  batch?: JobBatch;
  max_in_flight: number;
  /**
   * Access for encoders on other machines: the inputs, and the URL of a folder for a key prefix. Absent where there are none.
   */
  remote?: {
    input(): Promise<RemoteFiles["input"]>;
    extra?: () => Promise<RemoteFiles["input"][]>;
    folder(key_prefix: string): Promise<string>;
  };
  storage: Storage;
  /** Key prefix of encoded chunks until they are stitched, ending in a slash. */
  work: string;
  /** Key prefix of the output, ending in a slash. */
  out: string;
  /** Name of the output without its extension; adaptive video keeps its own names. */
  name: string;
  /** Encrypts the segments when the plan says so; encoders never see it. */
  content_key?: CryptoKey | undefined;
  durably: Durably;
  /** Receives the percentage done, or null from time to time while the work waits for a free encoder. */
  progress(percent: number | null): Promise<void>;
  signal?: AbortSignal | undefined;
}

export interface OutputFiles {
  /** The file to open: the only one, or the master playlist. */
  key: string;
  files: number;
  /** Bytes of all files. */
  size: number;
  /** Indexes of the source's text streams that the plan includes but the output lacks; absent when there are none. */
  lost_subtitles?: number[];
  /** Seconds of copied sound of each part; absent unless ranges of the source are copied. */
  sound_seconds?: number[];
}

export interface EncodeResult extends OutputFiles {
  /** Pictures and sound of the source and of the output; empty for stills. */
  counts: Counts;
  /** The spans of the source in a copy in parts or a smart cut; absent for other outputs. */
  cuts?: Cuts;
  /** Present for the kind `waveform`. */
  waveform?: WaveformFacts;
}

/** A run and the state that its chunks share. */
export interface Encoding extends EncodeRun {
  tracker: EncodeProgress;
  /** Aborts when the run is over or another of its chunks has failed. */
  stopped: AbortSignal;
}

/** Combines the progress of the chunks into one percentage that never falls. */
interface EncodeProgress {
  /** Reports the finished share of a chunk, 0 to 1. */
  share(chunk: Chunk, share: number): void;
  /** Reports that a chunk is waiting for a free encoder. */
  waits(): void;
  /** Reports that all chunks are done; rejects when the run is over. */
  finish(): Promise<void>;
}

const ENCODED_PERCENT = 95;

const EVERY_MS = 1000;

/**
 * Tracks the progress of a plan's chunks as a percentage of their total time, in which a last chunk that is encoded alone counts as
 * much as several encoded at once. Calls `report` at most once a second, the first percent at once, and never before the previous
 * call has settled.
 */
export function createEncodeProgress(
  plan: Plan,
  source: Source,
  report: (percent: number | null) => Promise<void>,
): EncodeProgress {
  const works = chunkWeights(plan, source).map((weight, place) => ({
    weight,
    share: 0,
    sound: plan.chunks[place]?.track === "audio",
  }));
  let parallel = 1;
  let baseline = { percent: 0, remaining: timeLeft() };
  let reported = 0;
  let last = Number.NEGATIVE_INFINITY;
  let reporting = false;
  let hasBegun = false;

  function timeLeft(): number {
    const running = works.filter(({ share }) => share > 0 && share < 1);
    const waiting = works.filter(({ share }) => share === 0);
    return timeOf(
      [...running, ...waiting].map(({ weight, share }) => weight * (1 - share)),
      parallel,
    );
  }

  function percentOf(remaining: number): number {
    const { percent, remaining: before } = baseline;
    return before > 0 ? percent + (ENCODED_PERCENT - percent) * (1 - remaining / before) : percent;
  }

  function reportPercent(percent: number | null): void {
    const now = Date.now();
    const isFirst = percent !== null && percent > 0 && !hasBegun;
    if (reporting || (now - last < EVERY_MS && !isFirst)) return;
    hasBegun ||= isFirst;
    last = now;
    reporting = true;
    const done = () => {
      reporting = false;
    };
    // A run that has ended also aborts its signal, so a failed report can be ignored.
    report(percent).then(done, done);
  }

  return {
    share(chunk, share) {
      const work = works[plan.chunks.findIndex(({ index }) => index === chunk.index)];
      if (work) work.share = Math.max(work.share, Math.min(1, share || 0));
      // Other jobs may occupy encoders, so count only the picture chunks that run at once.
      const running = works.filter((each) => !each.sound && each.share > 0 && each.share < 1).length;
      if (running > parallel) {
        const percent = percentOf(timeLeft());
        parallel = running;
        baseline = { percent, remaining: timeLeft() };
      }
      reported = Math.max(reported, Math.floor(percentOf(timeLeft())));
      reportPercent(reported);
    },
    waits: () => reportPercent(null),
    finish: () => report(ENCODED_PERCENT),
  };
}

function timeOf(pieces: readonly number[], parallel: number): number {
  const ends = Array.from({ length: parallel }, () => 0);
  for (const piece of pieces) {
    const next = ends.indexOf(Math.min(...ends));
    ends[next] = (ends[next] ?? 0) + piece;
  }
  return Math.max(...ends);
}

function chunkWeights(plan: Plan, source: Source): number[] {
  const time = secondsOf(plan, source, X264_AMPLE);
  return plan.chunks.map((chunk) => {
    if (!time || !plan.duration) return 1;
    if (chunk.track === "audio") return time.sound + 0.001;
    return (time.pictures * (outputSeconds(plan, chunk) ?? 0)) / plan.duration + 0.001;
  });
}
