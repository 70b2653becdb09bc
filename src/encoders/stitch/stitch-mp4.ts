import type { ByteReader } from "../../core/ports.ts";
import { isSoundEntry, pictureConfig } from "../mp4/mp4-entry.ts";
import { type Mp4Copy, planFile } from "../mp4/mp4-file.ts";
import { type Mp4Track, openMp4Part } from "../mp4/mp4-part.ts";
import { type Mp4Samples, readSamples } from "../mp4/mp4-samples.ts";
import { createBuild, type Mp4Build } from "../mp4/mp4-track.ts";
import { writeUserData } from "../mp4/mp4-user-data.ts";
import type { FileMetadata } from "../run/file-metadata.ts";
import { misfit, type Stretch } from "./packets.ts";

// This muxer and ../mp4 stand beside mediabunny's (1.61), which holds an object for each packet: four hours at 60 pictures a second
// go through 48 MiB of heap here and not there (test/encoders/stitch-long).

export interface Mp4Stitching {
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
export function timesOf(
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
export async function takeSound(
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
