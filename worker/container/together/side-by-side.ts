import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { joinPeaks, readPeaksHeader } from "../../../src/encoders/waveform/peak-meter.ts";
import { outputFile } from "../../../src/ffmpeg/output.ts";
import type { Tally } from "../../../src/ffmpeg/tally.ts";
import { type Segment, segmentsOf } from "../../../src/media/features/waveform-segments.ts";
import { readTally } from "../encode-job.ts";
import type { Member } from "./batches.ts";

/** Runs a job in its folder; `points_before` is how many points of a waveform come before its chunk. */
export type EncodeIn = (job: Member, points_before: number) => Promise<void>;

/**
 * Measures the stretches of a waveform's sound at the same time, a decoder on each of the processors, and puts their peaks where one
 * run would. Returns null for a job that needs a single run, and then leaves no output.
 */
export async function measureSideBySide(
  member: Member,
  processors: number,
  encode: EncodeIn,
): Promise<Tally | null> {
  const { plan, chunk, source } = member.job;
  const stretches = segmentsOf(plan, chunk, source, processors);
  if (stretches.length < 2) return null;
  const failed = new AbortController();
  const signal = AbortSignal.any([member.signal, failed.signal]);
  const [shares, speeds, bytes] = [stretches.map(() => 0), stretches.map(() => 0), stretches.map(() => 0)];
  const runs = stretches.map(async ({ chunk, points_before }, at) => {
    const folder = join(member.folder, `stretch-${at}`);
    await mkdir(join(folder, "out"), { recursive: true });
    const own: Member = {
      ...{ job: { ...member.job, chunk }, folder, signal },
      onProgress(share, speed) {
        shares[at] = share / stretches.length;
        speeds[at] = speed ?? 0;
        member.onProgress(sum(shares), sum(speeds) || null);
      },
      fits(taken) {
        bytes[at] = taken;
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
  // Whose fault it is shows when the sound is measured as a whole.
  if (done.length < stretches.length || !areWhole(peaks, stretches)) {
    member.fits(0);
    return null;
  }
  await writeFile(join(member.folder, "out", outputFile(plan, chunk).name), joinPeaks(peaks));
  return { sound: sum(done.map(({ tally }) => tally.sound ?? 0)) };
}

// In one run, a packet that cannot be decoded shifts every later point; timestamps leave a gap in its place.
function areWhole(peaks: readonly Uint8Array[], stretches: readonly Segment[]): boolean {
  const headers = peaks.map(readPeaksHeader);
  return headers.every(
    ({ samples, channels, sample_rate }, at) =>
      samples === (stretches[at]?.samples ?? samples) &&
      channels === headers[0]?.channels &&
      sample_rate === headers[0]?.sample_rate,
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
