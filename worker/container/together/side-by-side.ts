import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { joinPeaks, readPeaksHeader } from "../../../src/encoders/waveform/peak-meter.ts";
import { type Segment, segmentsOf } from "../../../src/media/features/waveform-segments.ts";
import { outputFile } from "../../../src/media/ffmpeg/output-files.ts";
import type { Tally } from "../../../src/media/ffmpeg/packet-count.ts";
import { readTally } from "../encode-job.ts";
import type { Member } from "./batches.ts";

/** Runs a job in its folder; `points_before` counts the points of the waveform before its chunk. */
export type EncodeIn = (job: Member, points_before: number) => Promise<void>;

/**
 * Measures the segments of a waveform's sound in parallel, one decoder a processor, and writes their peaks as a single run would. Returns
 * null, without output, for a job that needs a single run.
 */
export async function measureInParallel(
  member: Member,
  processors: number,
  encode: EncodeIn,
): Promise<Tally | null> {
  const { plan, chunk, source } = member.job;
  const segments = segmentsOf(plan, chunk, source, processors);
  if (segments.length < 2) return null;
  const failed = new AbortController();
  const signal = AbortSignal.any([member.signal, failed.signal]);
  const [shares, speeds, bytes] = [segments.map(() => 0), segments.map(() => 0), segments.map(() => 0)];
  const runs = segments.map(async ({ chunk, points_before }, at) => {
    const folder = join(member.folder, `segment-${at}`);
    await mkdir(join(folder, "out"), { recursive: true });
    const own: Member = {
      ...{ job: { ...member.job, chunk }, folder, signal },
      onProgress(share, speed) {
        shares[at] = share / segments.length;
        speeds[at] = speed ?? 0;
        member.onProgress(sum(shares), sum(speeds) || null);
      },
      fits(used) {
        bytes[at] = used;
        return member.fits(sum(bytes));
      },
    };
    await encode(own, points_before).catch((thrown) => {
      failed.abort(thrown);
      throw thrown;
    });
    const peaks = await readFile(join(folder, "out", outputFile(plan, chunk).name));
    return { peaks, tally: await readTally(own.job, folder) };
  });
  const ends = await Promise.allSettled(runs);
  member.signal.throwIfAborted();
  const done = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  const peaks = done.map((each) => new Uint8Array(each.peaks));
  // A single run shows whether the sound itself is at fault.
  if (done.length < segments.length || !areComplete(peaks, segments)) {
    member.fits(0);
    return null;
  }
  await writeFile(join(member.folder, "out", outputFile(plan, chunk).name), joinPeaks(peaks));
  return { sound: sum(done.map(({ tally }) => tally.sound ?? 0)) };
}

// A packet that cannot be decoded shifts all later points of a single run, but only those of its own segment here.
function areComplete(peaks: readonly Uint8Array[], segments: readonly Segment[]): boolean {
  const headers = peaks.map(readPeaksHeader);
  return headers.every(
    ({ samples, channels, sample_rate }, at) =>
      samples === (segments[at]?.samples ?? samples) &&
      channels === headers[0]?.channels &&
      sample_rate === headers[0]?.sample_rate,
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
