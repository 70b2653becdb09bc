import type { ByteReader } from "../../core/ports.ts";
import type { JoinFault } from "../../media/features/concat.ts";
import type { CopiedPart, CopyJoin } from "../../media/features/concat-plan.ts";
import { MIB } from "../../util/bytes.ts";
import { startsClean } from "../mp4/clean-start.ts";
import { type Mp4Copy, planFile } from "../mp4/mp4-file.ts";
import { type Mp4Track, openMp4Part } from "../mp4/mp4-part.ts";
import { type Mp4Samples, readSamples } from "../mp4/mp4-samples.ts";
import { readSharedEntry, type SharedEntry } from "../mp4/mp4-shared-entry.ts";
import { createBuild, type Mp4Build } from "../mp4/mp4-track.ts";
import { writeUserData } from "../mp4/mp4-user-data.ts";
import { misfit } from "./packets.ts";
import { type Mp4Stitching, takeSound, timesOf } from "./stitch-mp4.ts";

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
