import { containerOf, isTimedByFirst } from "../../media/containers.ts";
import { type MediaError, toMediaError } from "../../media/errors.ts";
import { extraFilesOf } from "../../media/extra-files.ts";
import { type PacketCounts, SOUND_TOLERANCE } from "../../media/ffmpeg/packet-count.ts";
import { type Chunk, constantFps, type Plan } from "../../media/plan.ts";
import type { Counts, Source } from "../../media/source.ts";
import { freezePictures, planOfChunk, trackEnd } from "../../media/timeline.ts";
import type { Contents } from "../../mux/contents.ts";
import type { EncodedFile, Encoder, Written } from "../encoder.ts";
import * as errors from "../errors.ts";
import type { Encoding } from "./encoding.ts";

export interface Counted<T> {
  stored: T;
  counts: Counts;
}

/** Stores the files of an encoder; `count` counts their pictures and sound. */
export type Store<T> = (encoded: Encoded) => Promise<{ stored: T; count(): Promise<Contents> }>;

/** Pictures and sound that an output lacks compared with its source. */
interface Shortfall {
  pictures: number;
  /** Time of the first missing picture in the source, in seconds; null when unknown. */
  at: number | null;
  /** Seconds. */
  sound: number;
  /** Whether decoding from an earlier point may help. */
  late_start: boolean;
}

const RETRY_LEAD_SECONDS = 30;

/**
 * Encodes a chunk and compares the result with its span of the source. When pictures are missing at the start, encodes again from an
 * earlier point of the source, finally from its start; when there is too much sound, again as sound that changes midway. Rejects with
 * `encode_incomplete` when pictures or sound are still missing, and with `encode_failed` when there are too many.
 */
export async function encodeCounted<T>(
  encoding: Encoding,
  chunk: Chunk,
  place: Place,
  durable: AbortSignal,
  store: Store<T>,
): Promise<Counted<T>> {
  const [, ...earlier] = decodeStarts(chunk);
  let current = chunk;
  for (let attempt = 0; ; attempt++) {
    const sourceCounts: PacketCounts = {};
    const encoded = await encodeChunk(encoding, current, place, durable, {
      attempt,
      onCounts: (part) => Object.assign(sourceCounts, part),
    });
    const { stored, count } = await store(encoded);
    if (!sourceCounts.pictures && sourceCounts.sound === undefined) return { stored, counts: {} };
    const contents = await count();
    const excess = excessOf(encoding, sourceCounts, contents);
    if (excess > 0) {
      if (!sourceCounts.heard || current.sound_from !== undefined) throw errors.soundTooLong({ excess });
      current = { ...current, sound_from: sourceCounts.heard.from };
      continue;
    }
    const extra = extraPictures(encoding, chunk, sourceCounts, contents);
    if (extra > 0) throw errors.tooManyPictures({ extra });
    const shortfall = compare(encoding, chunk, sourceCounts, contents);
    if (!shortfall) return { stored, counts: countsOf(sourceCounts, contents) };
    const decode_from = shortfall.late_start ? earlier.shift() : undefined;
    if (shortfall.pictures === 0 && isTimedByFirst(encoding.source))
      throw errors.soundChanged({ missing: shortfall.sound });
    if (decode_from === undefined) throw incomplete(shortfall, sourceCounts);
    current = { ...current, decode_from };
  }
}

export function sumCounts(all: readonly Counts[]): Counts {
  const pictures = all.flatMap((counts) => counts.pictures ?? []);
  const sound = all.flatMap((counts) => counts.sound ?? []);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const unreadable = sum(pictures.map((each) => each.unreadable ?? 0));
  const crowded = sum(pictures.map((each) => each.crowded ?? 0));
  return {
    ...(pictures.length > 0 && {
      pictures: {
        source: sum(pictures.map(({ source }) => source)),
        output: sum(pictures.map(({ output }) => output)),
        ...(unreadable > 0 && { unreadable }),
        ...(crowded > 0 && { crowded }),
      },
    }),
    ...(sound.length > 0 && {
      sound: {
        source: seconds(sum(sound.map(({ source }) => source))),
        output: seconds(sum(sound.map(({ output }) => output))),
      },
    }),
  };
}

/**
 * Throws `encode_incomplete` when a finished output has fewer pictures or less sound than its chunks, and `encode_failed` when it
 * has more.
 */
export function checkOutput({ pictures, sound }: Counts, contents: Contents): void {
  const missingPictures = pictures && contents.pictures !== null ? pictures.output - contents.pictures : 0;
  const missingSound = sound ? sound.output - contents.sound : 0;
  const extra = excessPictures(contents.pictures ?? 0, pictures?.output ?? Number.POSITIVE_INFINITY);
  if (extra > 0) throw errors.tooManyPictures({ extra });
  if (-missingSound > MAX_JOINED_EXCESS) throw errors.soundTooLong({ excess: -missingSound });
  if (missingPictures <= 0 && missingSound <= SOUND_TOLERANCE) return;
  const shortfall = {
    pictures: Math.max(0, missingPictures),
    at: null,
    sound: missingSound,
    late_start: false,
  };
  throw incomplete(shortfall, {}, { pictures: pictures?.output, sound: sound?.output });
}

// Each part may repeat a packet at its edges.
const MAX_JOINED_EXCESS = 0.5;

function decodeStarts({ track, start, decode_from = start }: Chunk): number[] {
  const starts =
    track === "audio" ? [decode_from] : [decode_from, Math.max(0, decode_from - RETRY_LEAD_SECONDS), 0];
  return [...new Set(starts)];
}

function compare(
  { plan, source }: Pick<Encoding, "plan" | "source">,
  chunk: Chunk,
  sourceCounts: PacketCounts,
  contents: Contents,
): Shortfall | null {
  const { missing = 0, missing_at = null, late_start = false, decoded = 0 } = sourceCounts.pictures ?? {};
  const expected = sourceCounts.pictures ? expectedPictures(plan, source, chunk, decoded) : 0;
  const unencoded = contents.pictures === null ? 0 : Math.max(0, expected - contents.pictures);
  const missingSound = expectedSound(plan, sourceCounts) - contents.sound + (sourceCounts.silenced ?? 0);
  const sound = missingSound > soundTolerance(source, sourceCounts) ? missingSound : 0;
  if (missing + unencoded === 0 && sound === 0) return null;
  const at = missing_at === null ? null : chunk.start + missing_at;
  return { pictures: missing + unencoded, at, sound, late_start };
}

// At a joint of bare files, decoders skip frames that refer to missing ones; the counts tell how much.
const JOINT_SHARE = 0.02;
const MAX_JOINTS_SECONDS = 2;

function soundTolerance(source: Source, { sound = 0 }: PacketCounts): number {
  if (!containerOf(source).bare) return SOUND_TOLERANCE;
  return Math.max(SOUND_TOLERANCE, Math.min(MAX_JOINTS_SECONDS, sound * JOINT_SHARE));
}

// When the sound changes its layout or rate, ffmpeg builds a new graph, which starts with silence from time 0.
function excessOf(
  { plan, source }: Pick<Encoding, "plan" | "source">,
  { heard, sound }: PacketCounts,
  contents: Contents,
): number {
  const { kind, audio, duration, start, end, speed = 1 } = plan;
  const isJoined = plan.concat !== undefined || plan.parts !== undefined;
  const decodedSound = contents.decodedSound ?? contents.sound;
  if (!audio || (isJoined ? duration === null : !heard || !sound)) return 0;
  // A copy cuts only between packets.
  if (audio.mode === "copy" && start > 0) return 0;
  // Streams are padded with silence to the end of their pictures.
  const pictureSeconds =
    kind === "adaptive_video"
      ? Math.min(end ?? Number.POSITIVE_INFINITY, trackEnd(source, "video") ?? 0) - start
      : 0;
  const until = isJoined ? (duration ?? 0) : Math.max(heard?.until ?? 0, pictureSeconds) / speed;
  const rate = audio.mode === "encode" ? audio.sample_rate : (source.audio?.sample_rate ?? 48_000);
  const excess = decodedSound - (kind === "adaptive_video" ? Math.max(duration ?? 0, until) : until);
  return excess > SOUND_TOLERANCE + PADDING_SAMPLES / rate ? excess : 0;
}

const PADDING_SAMPLES = 3 * 1152;

function extraPictures(
  { plan, source }: Pick<Encoding, "plan" | "source">,
  chunk: Chunk,
  { pictures }: PacketCounts,
  contents: Contents,
): number {
  const packets = pictures ? pictures.decoded + pictures.missing : 0;
  const expected = pictures ? expectedPictures(plan, source, chunk, packets) : 0;
  return expected > 0 ? excessPictures(contents.pictures ?? 0, expected) : 0;
}

// Filters may repeat a picture at either end.
function excessPictures(pictures: number, expected: number): number {
  const excess = pictures - expected;
  return excess > Math.max(MAX_EXTRA_PICTURES, expected * MAX_EXTRA_SHARE) ? excess : 0;
}

const MAX_EXTRA_PICTURES = 3;
const MAX_EXTRA_SHARE = 0.02;

// At a constant rate the filters repeat and drop pictures, so a full output proves nothing.
function expectedPictures(plan: Plan, source: Source, chunk: Chunk, decoded: number): number {
  const { start, end } = chunk;
  const fps = constantFps(plan);
  if (plan.concat || (plan.parts && plan.image && fps !== null)) return plan.frames ?? 0;
  if (fps === null) return decoded === 0 ? 0 : decoded + freezePictures(source, plan, chunk).count;
  return end === null || decoded === 0
    ? 0
    : Math.max(1, Math.round(((end - start) / (plan.speed ?? 1)) * fps));
}

function expectedSound({ concat, parts, duration, speed = 1 }: Plan, { sound = 0 }: PacketCounts): number {
  return (concat ?? parts) && sound > 0 ? (duration ?? 0) : sound / speed;
}

function countsOf({ pictures, sound }: PacketCounts, contents: Contents): Counts {
  const { unreadable = 0, crowded = 0 } = pictures ?? {};
  return {
    ...(pictures && {
      pictures: {
        source: pictures.decoded + unreadable,
        output: contents.pictures ?? contents.filePictures ?? pictures.decoded,
        ...(unreadable > 0 && { unreadable }),
        ...(crowded > 0 && { crowded }),
      },
    }),
    ...(sound !== undefined && { sound: { source: seconds(sound), output: seconds(contents.sound) } }),
  };
}

function incomplete(
  { pictures, at, sound }: Shortfall,
  sourceCounts: PacketCounts,
  all: { pictures?: number | undefined; sound?: number | undefined } = {
    pictures: sourceCounts.pictures && sourceCounts.pictures.decoded + sourceCounts.pictures.missing,
    sound: sourceCounts.sound,
  },
): MediaError {
  return errors.incomplete({
    pictures,
    expectedPictures: all.pictures ?? 0,
    firstAt: at,
    sound,
    expectedSound: all.sound ?? 0,
  });
}

function seconds(value: number): number {
  return Number(value.toFixed(3));
}

/** Destination of a chunk's files for encoders that store them themselves. */
interface Place {
  /** Key prefix, ending in a slash. */
  folder: string;
  /** Name of the only file; null for adaptive video. */
  name: string | null;
}

export type Encoded = Awaited<ReturnType<Encoder["encode"]>>;

export interface Attempt {
  /** Number of the attempt, from 0. */
  attempt: number;
  onCounts(sourceCounts: PacketCounts): void;
}

/** Encodes one chunk. Rejects with a MediaError, also when the encoder returns nothing. */
async function encodeChunk(
  encoding: Encoding,
  chunk: Chunk,
  place: Place,
  durable: AbortSignal,
  { attempt, onCounts }: Attempt,
): Promise<Encoded> {
  const { plan, source, encoder, remote, tracker } = encoding;
  const signal = AbortSignal.any([encoding.stopped, durable]);
  signal.throwIfAborted();
  const several = extraFilesOf(plan, chunk).length > 0;
  try {
    const encoded = await encoder.encode({
      plan: planOfChunk(plan, chunk),
      chunk,
      source,
      input: await encoding.input(),
      signal,
      ...(several && encoding.extra && { extra: await encoding.extra() }),
      // A repeated id would return the first attempt's job, which has ended.
      id: `${encoding.id}-${chunk.index}${attempt > 0 ? `.${attempt}` : ""}`,
      ...(encoding.batch && attempt === 0 && { batch: encoding.batch }),
      onCounts,
      onWait: tracker.waits,
      onProgress: (share) => tracker.share(chunk, share),
      ...(remote && {
        remote: async () => {
          const [input, folder] = await Promise.all([remote.input(), remote.folder(place.folder)]);
          const extra = several && remote.extra && { further: await remote.extra() };
          return { input, ...extra, folder, name: place.name };
        },
      }),
    });
    if (encoded instanceof ReadableStream || isWhole(encoded)) return encoded;
  } catch (thrown) {
    signal.throwIfAborted();
    throw toMediaError(thrown, "encode_failed");
  }
  throw errors.emptyFile({ encoder: encoder.name });
}

function isWhole(encoded: EncodedFile[] | Written): boolean {
  if (!Array.isArray(encoded)) return isWhole(encoded.playlists) || encoded.written.length > 0;
  return encoded.length > 0 && encoded.every((file) => file.bytes.length > 0);
}
