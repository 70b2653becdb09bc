import type { JoinFault } from "../media/features/concat.ts";
import type { CopiedPart, CopyJoin } from "../media/features/concat-plan.ts";
import { listBoxes } from "../probe/mp4-boxes.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes, MIB, viewOf } from "../util/bytes.ts";
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
import { misfit, type Stretch } from "./packets.ts";

/** Pictures of a file that another program wrote, which are shown from the first to the last. */
interface Part {
  track: Mp4Track;
  samples: Mp4Samples;
  shared: SharedEntry;
  /** Second at which playback of the file begins, which is that of its first track. */
  begin: number;
  facts: CopiedPart;
}

// Pictures of all parts, whose tables are in memory together.
const MOST_PICTURES = 2 ** 19;
// Of a first picture, whose first slice lies at its front.
const FRONT = MIB / 4;
// Seconds that are no more than rounding.
const MOMENT = 0.000_002;

/** Reads the indexes of MP4s and MOVs, in the order in which they play, and returns whether their pictures can be joined by copying. */
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
    const front = first && { start: first[0], end: first[0] + Math.min(samples.sizes[0] ?? 0, FRONT) };
    if (!front || !startsClean(await input.read(front, signal), shared)) return fault("entry");
    config ??= shared.config;
    if (shared.config !== config) return fault("different");
    pictures += facts.pictures;
    if (pictures > MOST_PICTURES) return fault("many");
    parts.push(facts);
  }
  return { parts };
}

/**
 * Plans an MP4 or MOV whose pictures are those of files that {@link readCopyJoin} accepts, each from a second on. Rejects with
 * `encode_failed` when they are no longer the same.
 */
export async function planJoin({ format, video, audio, ...rest }: Mp4Stitching): Promise<Mp4Copy> {
  const { ticks = 0, until, metadata, signal } = rest;
  const quicktime = format === "mov";
  let build: Mp4Build | null = null;
  let latest = 0;
  const inWindows = createWindows();
  // One after the other, because each index may be large.
  for (const { input, at } of video) {
    const part = await openPart(input, quicktime, signal);
    if (typeof part === "string") throw misfit("their pictures cannot be joined");
    const { track, samples, shared, begin } = part;
    build ??= createBuild({ ...track, ticks, quicktime, entry: shared.entry });
    const shown = timesOf(track, samples, at - begin, ticks);
    const decoded = shown.toSorted();
    if (build.stsz.length > 0 && (decoded[0] ?? 0) <= latest) throw misfit("two parts overlap");
    latest = decoded[decoded.length - 1] ?? latest;
    build.add({ ...track, input: inWindows(input) }, withSync(samples), decoded, shown);
  }
  if (!build) throw misfit("there are no pictures");
  build.finish(Math.max(1, Math.round((until ?? 0) * ticks) - latest));
  const sound = audio && (await takeSound(audio, quicktime, signal));
  if (audio && !sound) throw misfit("the sound is missing");
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
  if (track.packets > MOST_PICTURES) return "many";
  const samples = readSamples(track);
  if (!samples) return "index";
  const shared = readSharedEntry(track.entry, quicktime);
  if (!shared) return "codec";
  const { edit, ticks, packets, end } = track;
  const shown = timesOf(track, samples, 0, ticks);
  const start = shown[0] ?? 0;
  const length = samples.end / ticks;
  // What an edit list hides would be shown, and a last picture that it shortens would stay.
  const isCut = edit.length !== null && Math.abs(edit.length - length) > 2 * edit.grain;
  const isHidden = (samples.decoded[0] ?? 0) + (samples.offsets?.[0] ?? 0) < edit.from;
  // A last picture that lasts no time, or is shown after the end, would lie where the next part begins.
  const isLate = shown.some((time) => time >= start + samples.end);
  if (isCut || isHidden || isLate || shown.some((time) => time < start)) return "cut";
  if (end === null) return "index";
  const begin = start / ticks + length - end;
  const facts = { pictures: packets, seconds: begin > MOMENT ? end : start / ticks + length, ticks };
  return { track, samples, shared, begin: begin > MOMENT ? begin : 0, facts };
}

// Without a table all samples are entry points, beside others perhaps not.
function withSync(samples: Mp4Samples): Mp4Samples {
  return { ...samples, sync: samples.sync ?? new Uint8Array(samples.sizes.length).fill(1) };
}

const WINDOW = 4 * MIB;

/**
 * Returns a function that opens files for reading in windows, of which one is held for all of them: pictures lie between pieces of
 * sound, and read alone, each would be a request of its own.
 */
function createWindows(): (input: ByteReader) => ByteReader {
  let held = { of: null as ByteReader | null, start: 0, end: 0, bytes: new Uint8Array(0) };
  return (input) => {
    // Where pictures lie in disorder, windows would be read again and again.
    let spare = 2 * input.size;
    return {
      size: input.size,
      async read({ start, end }, signal) {
        if (held.of !== input || start < held.start || end > held.end) {
          const to = Math.min(input.size, Math.max(end, start + (spare > 0 ? WINDOW : 0)));
          spare -= to - end;
          const bytes = await input.read({ start, end: to }, signal);
          held = { of: input, start, end: start + bytes.length, bytes: new Uint8Array(bytes) };
        }
        return held.bytes.subarray(start - held.start, end - held.start);
      },
    };
  };
}

// This muxer and ../mp4 stand beside mediabunny's (1.61), which holds an object for each packet: four hours at 60 pictures a second
// go through 48 MiB of heap here and not there (test/encoders/stitch-long).

interface Mp4Stitching {
  format: "mp4" | "mov";
  /** In order of time. */
  video: readonly Stretch[];
  audio: ByteReader | null;
  /** End of the last picture in seconds; null or absent when only its part knows. */
  until?: number | null | undefined;
  metadata?: FileMetadata | undefined;
  /** Of files that other programs wrote: ticks per second of the joined pictures. */
  ticks?: number | undefined;
  signal?: AbortSignal | undefined;
}

// Most part indexes to read at once.
const AT_ONCE = 6;

/**
 * Plans an MP4 or MOV from the indexes of its parts: tables of a few bytes per packet. Null for parts in a form that the
 * encoders do not write. Rejects with `encode_failed` when there are no pictures at all, their encodings differ, or
 * stretches overlap.
 */
export async function planMp4({
  format,
  video,
  audio,
  until,
  metadata,
  signal,
}: Mp4Stitching): Promise<Mp4Copy | null> {
  const quicktime = format === "mov";
  const pictures = await joinPictures(video, quicktime, until ?? null, signal);
  const sound = pictures && audio && (await takeSound(audio, quicktime, signal));
  if (!pictures || (audio && !sound)) return null;
  const user_data = metadata ? writeUserData(quicktime, metadata) : [];
  return planFile(sound ? [pictures, sound] : [pictures], user_data, signal);
}

async function joinPictures(
  stretches: readonly Stretch[],
  quicktime: boolean,
  until: number | null,
  signal: AbortSignal | undefined,
): Promise<Mp4Build | null> {
  let build: Mp4Build | null = null;
  let [config, latest, last] = ["", Number.NEGATIVE_INFINITY, 0];
  for (let index = 0; index < stretches.length; index += AT_ONCE) {
    const some = stretches.slice(index, index + AT_ONCE);
    const parts = await Promise.all(some.map(({ input }) => openMp4Part(input, signal)));
    for (const [place, part] of parts.entries()) {
      if (part === "empty") continue;
      const own = part?.kind === "vide" && part.quicktime === quicktime ? pictureConfig(part.entry) : null;
      const samples = part && own !== null ? readSamples(part) : null;
      if (!part || own === null || !samples) return null;
      if (!build) {
        build = createBuild(part);
        config = own;
      }
      if (own !== config) throw misfit("two stretches were encoded in different ways");
      const shown = timesOf(part, samples, some[place]?.at ?? 0, build.first.ticks);
      // Pictures are decoded in presentation order, except those that others refer to.
      const decoded = shown.toSorted();
      if ((decoded[0] ?? 0) <= latest) throw misfit("two stretches overlap");
      latest = decoded[decoded.length - 1] ?? latest;
      build.add(part, samples, decoded, shown);
      last = ((samples.end - (samples.decoded[part.packets - 1] ?? 0)) / part.ticks) * build.first.ticks;
    }
  }
  if (!build) throw misfit("there are no pictures");
  const lastTicks = until === null ? 0 : Math.round(until * build.first.ticks) - latest;
  build.finish(lastTicks > 0 ? lastTicks : Math.round(last));
  return build;
}

/** Returns the presentation times of the samples of a part that starts at a second, in ticks of the whole file. */
function timesOf(
  { edit, ticks: own }: Mp4Track,
  { decoded, offsets }: Mp4Samples,
  at: number,
  ticks: number,
): Float64Array {
  const from = Math.round((at + edit.delay) * ticks);
  const scale = ticks / own;
  return decoded.map(
    (time, index) => from + Math.round((time + (offsets?.[index] ?? 0) - edit.from) * scale),
  );
}

/** Takes the only track of a file as the sound of another; null when it is not AAC as the encoders write it. */
async function takeSound(
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

/** A sample entry of pictures as it is written for several files, and what all of them must share. */
interface SharedEntry {
  entry: Uint8Array;
  /** Equal for pictures that one decoder plays in a row. */
  config: string;
  codec: SharedCodec;
  /** The decoder's configuration. */
  record: Uint8Array;
}

// Types of entries: what they are written as, with the parameter sets beside the stream that some players insist on, and the box of those.
const CODECS = {
  avc1: { codec: "avc1", box: "avcC" },
  hvc1: { codec: "hvc1", box: "hvcC" },
  hev1: { codec: "hvc1", box: "hvcC" },
} as const;
type SharedCodec = (typeof CODECS)[keyof typeof CODECS]["codec"];

// Offsets in an entry (ISO/IEC 14496-12, 12.1.3): what only QuickTime uses, the size, the compressor's name, and the boxes inside.
const PRIVATE = { start: 16, end: 32 };
const SIZE = { start: 32, end: 36 };
const NAME = { start: 50, end: 82 };
const INSIDE = 86;
// Pixel aspect, and what HDR pictures were made on.
const KEPT = ["pasp", "mdcv", "clli"] as const;

/** Reads a sample entry of pictures from another program, without what only that program knows; null for an unknown codec. */
function readSharedEntry(entry: Uint8Array, quicktime: boolean): SharedEntry | null {
  const kind = String.fromCharCode(...entry.subarray(4, 8));
  const form = Object.hasOwn(CODECS, kind) ? CODECS[kind as keyof typeof CODECS] : null;
  if (!form || entry.length <= INSIDE) return null;
  const boxes = listBoxes(viewOf(entry), INSIDE, entry.length);
  const bytesOf = (kind: string) => {
    const found = boxes.find((each) => each.kind === kind);
    return found && entry.slice(found.start, found.end);
  };
  const record = bytesOf(form.box);
  if (!record) return null;
  if (form.codec === "hvc1") completeArrays(record);
  const color = bytesOf("colr");
  const colors = color && readColors(color);
  const kept = KEPT.flatMap((kind) => {
    const bytes = bytesOf(kind);
    return bytes ? [{ kind, bytes }] : [];
  });
  const header = entry.slice(0, INSIDE);
  header.fill(0, PRIVATE.start, PRIVATE.end);
  header.fill(0, NAME.start, NAME.end);
  const written = box(
    form.codec,
    [header.subarray(8)],
    box(form.box, [record]),
    ...kept.map(({ kind, bytes }) => box(kind, [bytes])),
    colors ? box("colr", [writeColors(colors, quicktime)]) : [],
  );
  const size = entry.subarray(SIZE.start, SIZE.end);
  const all = kept.map(({ kind, bytes }) => [kind, ...bytes].join(" "));
  const config = [form.codec, ...size, ...record, ...all, colors?.all].join(" ");
  return { entry: concatBytes(written), config, codec: form.codec, record };
}

// Whether all parameter sets are here (array_completeness; ISO/IEC 14496-15, 8.3.3.1), which an entry of this type states.
function completeArrays(record: Uint8Array): void {
  let at = 23;
  for (let left = record[22] ?? 0; left > 0 && at + 3 <= record.length; left--) {
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
  /** Primaries, transfer and matrix, of 16 bits each. */
  values: Uint8Array;
  full: boolean;
  all: string;
}

// QuickTime's form (nclc) has no range; both have three numbers (ISO/IEC 14496-12, 12.1.5).
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

// Slices of an instantaneous refresh (ITU-T H.264, table 7-1, and H.265, table 7-1), and all slices.
const TYPES = {
  avc1: { of: (first: number) => first & 0x1f, clean: [5, 5], slices: [1, 5], lengthAt: 4 },
  hvc1: { of: (first: number) => (first >> 1) & 0x3f, clean: [19, 20], slices: [0, 31], lengthAt: 21 },
} as const;

/**
 * Returns whether a decoder forgets all earlier pictures at an access unit. A container's mark of a sync sample is too little: an open
 * group may begin there, whose pictures refer to earlier ones or count their order on from them.
 */
export function startsClean(unit: Uint8Array, { codec, record }: SharedEntry): boolean {
  const { of, clean, slices, lengthAt } = TYPES[codec];
  const width = ((record[lengthAt] ?? 3) & 3) + 1;
  for (let at = 0; at + width < unit.length; ) {
    let size = 0;
    for (let byte = 0; byte < width; byte++) size = size * 256 + (unit[at + byte] ?? 0);
    const type = of(unit[at + width] ?? 0);
    if (type >= slices[0] && type <= slices[1]) return type >= clean[0] && type <= clean[1];
    at += width + size;
  }
  return false;
}
