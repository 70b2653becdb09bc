import { containerOf } from "../containers.ts";
import type { MediaError } from "../errors.ts";
import { sourceForTrack } from "../features/track.ts";
import { mainStream } from "../main-tracks.ts";
import type { Chunk, Plan, PlannedPart } from "../plan.ts";
import type { Source } from "../source.ts";
import * as errors from "./errors.ts";

/**
 * Parses the output time in seconds from a line of ffmpeg's `-progress` or status output, clamped to 0 to `duration` (if known);
 * null when the line has none.
 */
export function parseProgress(line: string, duration: number | null = null): number | null {
  const micros = /^out_time_(?:us|ms)=(-?\d+)\s*$/.exec(line);
  const clock =
    /\btime=\s*(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(line) ??
    /^out_time=\s*(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?)/.exec(line);
  // Both counters are in microseconds, despite their names.
  const seconds = micros ? Number(micros[1]) / 1e6 : clockSeconds(clock);
  if (seconds === null) return null;
  return Math.min(Math.max(0, seconds), duration ?? Number.POSITIVE_INFINITY);
}

function clockSeconds(match: RegExpExecArray | null): number | null {
  if (!match) return null;
  const [, sign, hours, minutes, seconds] = match;
  const total = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === "-" ? -total : total;
}

/** How a run of ffmpeg ended. */
export interface RunEnd {
  /** Exit code; null when a signal killed it. */
  code: number | null;
  /** The signal, such as `SIGXFSZ`; absent when ffmpeg exited by itself. */
  signal?: string | null;
  /** Lines at level warning and the last status, oldest first. */
  log: readonly string[];
}

const CUT_OFF = /partial file|unexpected end|Premature end/;
// These lines are fatal only for a still. ffmpeg may miss the end marker of an intact small JPEG, but reports overreads only for truncated ones.
const CUT_STILL = /overread \d|[Tt]runcat|Packet corrupt/;
const UNREADABLE =
  /moov atom not found|Invalid data found|could not find codec|Decoder .*not found|unknown codec|not on whitelist/i;
// A demuxer gives up on damaged input only, except that the light encoder may really lack memory for an index.
const READER_FAILED = /^(\/in\/input: (?!Cannot allocate)|https?:\/\/\S+: )/m;
const TIMELESS = /pts has no value|unknown timestamp/;
const URL = /\b[a-z][a-z0-9+.-]*:\/\/\S+/gi;
const DISK_FULL = /No space left on device|File too large|Disk quota exceeded/;
const NO_MEMORY =
  /Cannot allocate memory|malloc of size|malloc failed|bad_alloc|allocate memory failed|pthread_create\(\) failed/i;
const STATUS = /^(frame|size)=/;
// ffmpeg rounds times below 5 ms to 0, but still prints a bit rate.
const EMPTY = /^frame=\s*0 |^size=.*time=(-|N|00:00:00\.00 bitrate=N)|nothing was encoded/;

/**
 * Throws the {@link MediaError} that matches how a run ended: `input_unsupported`, `out_of_memory`, `storage_full`,
 * `worker_lost` (killed from outside) or `encode_failed`. Does nothing after success.
 */
export function checkRun({ code, signal, log }: RunEnd, plan: Plan, chunk: Chunk, source: Source): void {
  const text = log.join("\n");
  const cause = { log: text };
  // ffmpeg 5.1 exits with code 0 for WebM and WAV even when writing failed.
  if (signal === "SIGXFSZ" || DISK_FULL.test(text)) throw errors.diskFull(cause);
  if (signal === "SIGKILL" || signal === "SIGTERM") throw errors.terminated(cause);
  if ((CUT_OFF.test(text) && !plan.partial) || (plan.still && CUT_STILL.test(text)))
    throw errors.inputCutOff(cause);
  if (code !== 0) {
    if (/matches no streams/.test(text)) throw errors.streamMissing(cause);
    if (READER_FAILED.test(text)) throw errors.inputUnreadable(cause);
    if (TIMELESS.test(text)) throw errors.packetsUntimed(cause);
    if (NO_MEMORY.test(text)) throw errors.outOfMemory(cause);
    if (signal) throw errors.crashed({ ...cause, signal });
    if (UNREADABLE.test(text)) throw errors.inputUnreadable(cause);
    const last = log.findLast((line) => !STATUS.test(line));
    if (last && EMPTY.test(last)) throw emptyOutput(plan);
    throw errors.failed({ ...cause, message: last?.replace(URL, "(URL)") });
  }
  // A chunk may be empty when the audio outlasts the video; a whole output may not.
  if (chunk.track !== "all") return;
  const status = log.findLast((line) => STATUS.test(line)) ?? "";
  if (EMPTY.test(status)) throw emptyOutput(plan);
  const reached = parseProgress(status);
  if (reached !== null) checkEnd(reached, plan, source);
}

/** Throws `input_unsupported` when an output with audio ends, at `reached` seconds, so early that its source must be truncated. */
export function checkEnd(reached: number, plan: Plan, source: Source): void {
  // The file's duration is that of its longest stream, which may be text.
  const plain = source.streams?.every(({ kind }) => kind === "video" || kind === "audio") ?? true;
  if (plan.partial || !plan.audio || !plan.duration || !plain || !containerOf(source).exact_duration) return;
  // The last picture may freeze for long, so only the audio shows how far the input goes.
  // The end of a track with several edits is unknown, but its duration is not.
  const { end, duration = Number.POSITIVE_INFINITY } =
    mainStream(sourceForTrack(source, plan), "audio") ?? {};
  const sound = ((end ?? duration) - plan.start) / (plan.speed ?? 1);
  if (reached >= Math.min(plan.duration, sound) * 0.8 - 0.1) return;
  throw errors.inputEndsEarly();
}

/**
 * Checks that a part's sound, whose last packet ends at `last` seconds of the source, lasts long enough, because the rest would be silent.
 * Throws `input_unsupported` when the source must be truncated, and `invalid_options` when the part exceeds a source of unknown length.
 */
export function checkPartEnd(
  { start, end }: Pick<PlannedPart, "start" | "end">,
  last: number,
  plan: Plan,
  source: Source,
): void {
  const { duration, duration_estimated, codecs, truncated } = source;
  const statedEnd = mainStream(sourceForTrack(source, plan), "audio")?.end ?? (codecs?.video ? 0 : duration);
  const isEstimated = duration_estimated === true && !codecs?.video;
  if (plan.partial || truncated || !(isEstimated || containerOf(source).exact_duration)) return;
  const until = isEstimated ? end : Math.min(end, statedEnd ?? 0);
  const length = until - start;
  if (until - Math.max(start, last) <= length * 0.2 + Math.min(0.1, length / 2)) return;
  throw isEstimated ? errors.partBeyondEnd({ start, end }) : errors.inputEndsEarly();
}

/** Returns the {@link MediaError} for empty output. */
export function emptyOutput(plan: Plan): MediaError {
  if (plan.still) return errors.inputCutOff();
  return plan.start > 0 || plan.end !== null ? errors.rangeEmpty() : errors.nothingDecoded();
}
