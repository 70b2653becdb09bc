import type { CopiedPart, CopyJoin } from "../media/features/concat-plan.ts";
import type { JoinFault } from "../media/plan-errors.ts";
import { resetsDecoder } from "../probe/codec-headers.ts";
import { listBoxes } from "../probe/mp4-boxes.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes, MIB, viewOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import type { FileMetadata } from "./file-metadata.ts";
import { box, letters } from "./mp4-boxes.ts";
import {
  createBuild,
  isSoundEntry,
  type Mp4Build,
  type Mp4Copy,
  pictureConfig,
  planFile,
  writeUserData,
} from "./mp4-file.ts";
import { type Mp4Samples, type Mp4Track, openMp4Part, readSamples } from "./mp4-part.ts";
import type { VideoPart } from "./packets.ts";

/** The video track of a file from another program, shown from its first picture to its last. */
interface Part {
  track: Mp4Track;
  samples: Mp4Samples;
  shared: SharedEntry;
  /** Time in seconds at which playback of the file begins: the start of its first track. */
  begin: number;
  facts: CopiedPart;
}

const MAX_PICTURES = 2 ** 19;
const MAX_FRONT = MIB / 4;
const EPSILON_SECONDS = 0.000_002;

/** Reads the indexes of MP4s and MOVs, in playback order, and returns whether their pictures can be joined by copying. */
export async function readCopyJoin(inputs: readonly ByteReader[], signal?: AbortSignal): Promise<CopyJoin> {
  const parts: CopiedPart[] = [];
  let config: string | null = null;
  let pictures = 0;
  for (const [at, input] of inputs.entries()) {
    const fault = (reason: JoinFault): CopyJoin => ({ fault: reason, input: at });
    const part = await openPart(input, false, signal);
    if (typeof part === "string") return fault(part);
    const { samples, shared, facts } = part;
    const [first] = samples.extents;
    const front = first && { start: first[0], end: first[0] + Math.min(samples.sizes[0] ?? 0, MAX_FRONT) };
    const codec = shared.codec === "avc1" ? "avc" : "hevc";
    if (!front || !resetsDecoder(await input.read(front, signal), codec, shared.record))
      return fault("entry");
    config ??= shared.config;
    if (shared.config !== config) return fault("different");
    pictures += facts.pictures;
    if (pictures > MAX_PICTURES) return fault("many");
    parts.push(facts);
  }
  return { parts };
}

/**
 * Plans an MP4 or MOV that joins the pictures of files that {@link readCopyJoin} accepted. Rejects with `encode_failed` when the
 * files have changed.
 */
export async function planJoin({ quicktime, video, audio, ...rest }: Mp4StitchOptions): Promise<Mp4Copy> {
  const { ticks = 0, until, metadata, signal } = rest;
  let build: Mp4Build | null = null;
  let latest = 0;
  const inWindows = createWindows();
  // Each index may be large, so they are read one after another.
  for (const { input, at } of video) {
    const part = await openPart(input, quicktime, signal);
    if (typeof part === "string") throw errors.sourcesUnjoinable();
    const { track, samples, shared, begin } = part;
    build ??= createBuild({ ...track, ticks, quicktime, entry: shared.entry });
    const displayTimes = timesOf(track, samples, at - begin, ticks);
    const decoded = displayTimes.toSorted();
    if (build.stsz.length > 0 && (decoded[0] ?? 0) <= latest) throw errors.sourcesOverlap();
    latest = decoded[decoded.length - 1] ?? latest;
    build.add({ ...track, input: inWindows(input) }, withSync(samples), decoded, displayTimes);
  }
  if (!build) throw errors.noPictures();
  build.finish(Math.max(1, Math.round((until ?? 0) * ticks) - latest));
  const sound = audio && (await buildSound(audio, quicktime, signal));
  if (audio && !sound) throw errors.soundMissing();
  const user_data = metadata ? writeUserData(quicktime, metadata) : [];
  return planFile(sound ? [build, sound] : [build], user_data, signal);
}

async function openPart(
  input: ByteReader,
  quicktime: boolean,
  signal: AbortSignal | undefined,
): Promise<Part | JoinFault> {
  const track = await openMp4Part(input, signal, "vide");
  if (!track || track === "empty") return "index";
  if (track.packets > MAX_PICTURES) return "many";
  const samples = readSamples(track);
  if (!samples) return "index";
  const shared = readSharedEntry(track.entry, quicktime);
  if (!shared) return "codec";
  const { edit, ticks, packets, end } = track;
  const displayTimes = timesOf(track, samples, 0, ticks);
  const start = displayTimes[0] ?? 0;
  const length = samples.end / ticks;
  // Copying would show pictures that the edit list hides, and would not shorten the last one.
  const isCut = edit.length !== null && Math.abs(edit.length - length) > 2 * edit.grain;
  const isHidden = (samples.decoded[0] ?? 0) + (samples.offsets?.[0] ?? 0) < edit.from;
  const isLate = displayTimes.some((time) => time >= start + samples.end);
  if (isCut || isHidden || isLate || displayTimes.some((time) => time < start)) return "cut";
  if (end === null) return "index";
  const begin = start / ticks + length - end;
  const facts = { pictures: packets, seconds: begin > EPSILON_SECONDS ? end : start / ticks + length, ticks };
  return { track, samples, shared, begin: begin > EPSILON_SECONDS ? begin : 0, facts };
}

// A file without the table has only sync samples, which must be explicit next to parts with a table.
function withSync(samples: Mp4Samples): Mp4Samples {
  return { ...samples, sync: samples.sync ?? new Uint8Array(samples.sizes.length).fill(1) };
}

const WINDOW = 4 * MIB;

/**
 * Returns a function that opens files for reading through one shared window: pictures are interleaved with sound, so reading only
 * pictures would take a request each.
 */
function createWindows(): (input: ByteReader) => ByteReader {
  let cached = { input: null as ByteReader | null, start: 0, end: 0, bytes: new Uint8Array(0) };
  return (input) => {
    // Bounds repeated reads of the same windows when pictures are out of order.
    let spare = 2 * input.size;
    return {
      size: input.size,
      async read({ start, end }, signal) {
        if (cached.input !== input || start < cached.start || end > cached.end) {
          const to = Math.min(input.size, Math.max(end, start + (spare > 0 ? WINDOW : 0)));
          spare -= to - end;
          const bytes = await input.read({ start, end: to }, signal);
          cached = { input, start, end: start + bytes.length, bytes: new Uint8Array(bytes) };
        }
        return cached.bytes.subarray(start - cached.start, end - cached.start);
      },
    };
  };
}

// mediabunny's muxer (1.61) holds an object per packet; this one joins 4 hours at 60 fps in 48 MiB of heap (test/encoders/stitch-long).

interface Mp4StitchOptions {
  /** Whether to write a MOV. */
  quicktime: boolean;
  /** Parts in order of time. */
  video: readonly VideoPart[];
  audio: ByteReader | null;
  /** End of the last picture in seconds; by default that of its part. */
  until?: number | null | undefined;
  metadata?: FileMetadata | undefined;
  /** Ticks per second of the joined pictures, for files from other programs. */
  ticks?: number | undefined;
  signal?: AbortSignal | undefined;
}

const MAX_READS = 6;

/**
 * Plans an MP4 or MOV from the indexes of its parts: tables of a few bytes per packet. Null for parts in a form that the
 * encoders do not write. Rejects with `encode_failed` when there are no pictures at all, their encodings differ, or
 * parts overlap.
 */
export async function planMp4({
  quicktime,
  video,
  audio,
  until,
  metadata,
  signal,
}: Mp4StitchOptions): Promise<Mp4Copy | null> {
  const pictures = await joinPictures(video, quicktime, until ?? null, signal);
  const sound = pictures && audio && (await buildSound(audio, quicktime, signal));
  if (!pictures || (audio && !sound)) return null;
  const user_data = metadata ? writeUserData(quicktime, metadata) : [];
  return planFile(sound ? [pictures, sound] : [pictures], user_data, signal);
}

async function joinPictures(
  parts: readonly VideoPart[],
  quicktime: boolean,
  until: number | null,
  signal: AbortSignal | undefined,
): Promise<Mp4Build | null> {
  let build: Mp4Build | null = null;
  let [config, latest, last] = ["", Number.NEGATIVE_INFINITY, 0];
  for (let index = 0; index < parts.length; index += MAX_READS) {
    const batch = parts.slice(index, index + MAX_READS);
    const tracks = await Promise.all(batch.map(({ input }) => openMp4Part(input, signal)));
    for (const [place, part] of tracks.entries()) {
      if (part === "empty") continue;
      const own = part?.kind === "vide" && part.quicktime === quicktime ? pictureConfig(part.entry) : null;
      const samples = part && own !== null ? readSamples(part) : null;
      if (!part || own === null || !samples) return null;
      if (!build) {
        build = createBuild(part);
        config = own;
      }
      if (own !== config) throw errors.encodingsDiffer();
      const displayTimes = timesOf(part, samples, batch[place]?.at ?? 0, build.first.ticks);
      // Pictures are decoded in presentation order, except those that others refer to.
      const decoded = displayTimes.toSorted();
      if ((decoded[0] ?? 0) <= latest) throw errors.partsOverlap();
      latest = decoded[decoded.length - 1] ?? latest;
      build.add(part, samples, decoded, displayTimes);
      last = ((samples.end - (samples.decoded[part.packets - 1] ?? 0)) / part.ticks) * build.first.ticks;
    }
  }
  if (!build) throw errors.noPictures();
  const lastTicks = until === null ? 0 : Math.round(until * build.first.ticks) - latest;
  build.finish(lastTicks > 0 ? lastTicks : Math.round(last));
  return build;
}

/** Returns the presentation times of the samples of a part that starts at `at` seconds, in ticks of the whole file. */
function timesOf(
  { edit, ticks: own }: Mp4Track,
  { decoded, offsets }: Mp4Samples,
  at: number,
  ticks: number,
): Float64Array {
  const origin = Math.round((at + edit.delay) * ticks);
  const scale = ticks / own;
  return decoded.map(
    (time, index) => origin + Math.round((time + (offsets?.[index] ?? 0) - edit.from) * scale),
  );
}

/** Builds the sound from a file's only track; null when it is not AAC as our encoders write it. */
async function buildSound(
  audio: ByteReader,
  quicktime: boolean,
  signal: AbortSignal | undefined,
): Promise<Mp4Build | null> {
  const part = await openMp4Part(audio, signal);
  if (!part || part === "empty" || part.kind !== "soun" || part.quicktime !== quicktime) return null;
  const samples = isSoundEntry(part.entry) ? readSamples(part) : null;
  if (!samples || samples.offsets || samples.sync) return null;
  const build = createBuild(part);
  build.add(part, samples, samples.decoded, samples.decoded);
  build.finish(samples.end - (samples.decoded[part.packets - 1] ?? 0));
  return build;
}

/** A video sample entry for the joined file, and the configuration that all parts must share. */
interface SharedEntry {
  entry: Uint8Array;
  /** Equal for pictures that one decoder can decode in sequence. */
  config: string;
  codec: SharedCodec;
  /** The decoder's configuration. */
  record: Uint8Array;
}

// Some players require parameter sets outside the stream, so hev1 becomes hvc1.
const CODECS = {
  avc1: { codec: "avc1", box: "avcC" },
  hvc1: { codec: "hvc1", box: "hvcC" },
  hev1: { codec: "hvc1", box: "hvcC" },
} as const;
type SharedCodec = (typeof CODECS)[keyof typeof CODECS]["codec"];

// Offsets in a sample entry (ISO/IEC 14496-12, 12.1.3): QuickTime's own fields, the size, the compressor's name, and the boxes.
const RESERVED = { start: 16, end: 32 };
const SIZE = { start: 32, end: 36 };
const NAME = { start: 50, end: 82 };
const BOXES_START = 86;
const COPIED_BOXES = ["pasp", "mdcv", "clli"] as const;

/** Reads a video sample entry from another program, without its private fields; null for an unknown codec. */
function readSharedEntry(entry: Uint8Array, quicktime: boolean): SharedEntry | null {
  const kind = String.fromCharCode(...entry.subarray(4, 8));
  const form = Object.hasOwn(CODECS, kind) ? CODECS[kind as keyof typeof CODECS] : null;
  if (!form || entry.length <= BOXES_START) return null;
  const boxes = listBoxes(viewOf(entry), BOXES_START, entry.length);
  const bytesOf = (kind: string) => {
    const content = boxes.find((each) => each.kind === kind);
    return content && entry.slice(content.start, content.end);
  };
  const record = bytesOf(form.box);
  if (!record) return null;
  if (form.codec === "hvc1") completeArrays(record);
  const color = bytesOf("colr");
  const colors = color && readColors(color);
  const others = COPIED_BOXES.flatMap((kind) => {
    const bytes = bytesOf(kind);
    return bytes ? [{ kind, bytes }] : [];
  });
  const header = entry.slice(0, BOXES_START);
  header.fill(0, RESERVED.start, RESERVED.end);
  header.fill(0, NAME.start, NAME.end);
  const written = box(
    form.codec,
    [header.subarray(8)],
    box(form.box, [record]),
    ...others.map(({ kind, bytes }) => box(kind, [bytes])),
    colors ? box("colr", [writeColors(colors, quicktime)]) : [],
  );
  const size = entry.subarray(SIZE.start, SIZE.end);
  const all = others.map(({ kind, bytes }) => [kind, ...bytes].join(" "));
  const config = [form.codec, ...size, ...record, ...all, colors?.all].join(" ");
  return { entry: concatBytes(written), config, codec: form.codec, record };
}

// Sets array_completeness (ISO/IEC 14496-15, 8.3.3.1), which this entry type requires.
function completeArrays(record: Uint8Array): void {
  let at = 23;
  for (let remaining = record[22] ?? 0; remaining > 0 && at + 3 <= record.length; remaining--) {
    record[at] = (record[at] ?? 0) | 0x80;
    let units = numberAt(record, at + 1);
    at += 3;
    for (; units > 0 && at + 2 <= record.length; units--) at += 2 + numberAt(record, at);
  }
}

function numberAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
}

interface Colors {
  /** Primaries, transfer and matrix, 16 bits each. */
  values: Uint8Array;
  full: boolean;
  all: string;
}

// ISO/IEC 14496-12, 12.1.5: QuickTime's form (nclc) states no range.
function readColors(content: Uint8Array): Colors | null {
  const form = String.fromCharCode(...content.subarray(0, 4));
  if ((form !== "nclc" && form !== "nclx") || content.length < 10) return null;
  const values = content.subarray(4, 10);
  const full = form === "nclx" && ((content[10] ?? 0) & 0x80) !== 0;
  return { values, full, all: `${values.join(" ")} ${full}` };
}

function writeColors({ values, full }: Colors, quicktime: boolean): Uint8Array {
  if (quicktime) return concatBytes([letters("nclc"), values]);
  return concatBytes([letters("nclx"), values, Uint8Array.of(full ? 0x80 : 0)]);
}
