import { rm } from "node:fs/promises";
import { join } from "node:path";
import { hugeMp4 } from "../../test/fixtures/huge.ts";
import { startOrigin } from "../../test/fixtures/origin.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { startBare } from "../host.ts";
import { type Lab, openLab, removeBlobs } from "../lab.ts";
import { medianOf } from "../measure.ts";
import { forgetPeaks, peakMb, residentMb, workerds } from "../memory.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";

const BYTES = 2_000_000_000;
const SMALL = 20_000_000;

/** An ingest step of 2 GB from a local server into storage: its time against `curl -o`, and its memory. */
export const ingestBenchmarks: readonly Benchmark[] = [
  { name: "ingest-vs-curl", unit: "s", open: openTime },
  { name: "ingest-memory", unit: "MB", open: openMemory },
];

async function openTime(ends: AsyncDisposableStack): Promise<Contest> {
  const { lab, url } = await openIngest(ends);
  const copy = join(lab.dir, "copy");
  const storage = await timeStorage(lab, ends);
  return {
    async peer() {
      const { seconds } = await runCommand("curl", ["-sS", "--fail", "-o", copy, url]);
      await rm(copy);
      return { value: seconds };
    },
    ours: () => ingest(lab, url, BYTES),
    notes(ours, peer) {
      const speed = (samples: readonly Measurement[]) =>
        `${short(BYTES / 1e6 / medianOf(samples, "value"))} MB/s`;
      return `2 GB; ours ${speed(ours)} from POST /steps to its end, curl ${speed(peer)}; Miniflare's R2 would take ${short(storage)} s for as much from memory`;
    },
  };
}

async function openMemory(ends: AsyncDisposableStack): Promise<Contest> {
  const { lab, url, small } = await openIngest(ends);
  // Warms up with the code that any ingest loads.
  await ingest(lab, small, SMALL);
  const pids = workerds(lab.service.pids("framewright"));
  const rounds: { before: number; growth: number }[] = [];
  return {
    peer: null,
    async ours() {
      forgetPeaks(pids);
      const before = residentMb(pids);
      await ingest(lab, url, BYTES);
      const growth = peakMb(pids) - before;
      rounds.push({ before, growth });
      return { value: growth };
    },
    notes(ours) {
      const [cold, first] = rounds;
      const worst = Math.max(...ours.map(({ value }) => value));
      const growth = residentMb(pids) - (first?.before ?? Number.NaN);
      return [
        `2 GB; peak of a round over what workerd had before it (${short(first?.before ?? null)} MB), worst ${short(worst)};`,
        `the warm-up, the first large ingest of the process, grew ${short(cold?.growth ?? null)};`,
        `${short(growth)} more resident after ${ours.length} rounds`,
      ].join(" ");
    },
  };
}

async function openIngest(ends: AsyncDisposableStack) {
  const origin = await startOrigin();
  ends.defer(() => origin.close());
  const lab = await openLab(ends);
  const serve = async (path: string, bytes: number) =>
    origin.serve(path, { file: await hugeMp4(bytes), mime: "video/mp4" });
  return { lab, url: await serve("/large.mp4", BYTES), small: await serve("/small.mp4", SMALL) };
}

// The storage of the local service before it kept media in files.
async function timeStorage(lab: Lab, ends: AsyncDisposableStack): Promise<number> {
  const bare = await startBare(lab.dir, ends);
  const started = performance.now();
  const response = await fetch(`${bare}/storage/${BYTES}`, { method: "PUT" });
  if (!response.ok) throw new Error(`Storage answered ${response.status}.`);
  const seconds = (performance.now() - started) / 1000;
  await removeBlobs(lab.dir);
  return seconds;
}

async function ingest(lab: Lab, url: string, bytes: number): Promise<Measurement> {
  const started = performance.now();
  const step = await lab.runStep({ kind: "ingest", input: { url } });
  const seconds = (performance.now() - started) / 1000;
  await lab.discardStored();
  if (step.output?.filesize !== bytes) throw new Error(`${step.output?.filesize} of ${bytes} bytes arrived.`);
  return { value: seconds };
}
