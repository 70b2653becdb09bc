import { join } from "node:path";
import type { Task } from "../../src/runs/task.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { makeFilm } from "../film.ts";
import { openLab } from "../lab.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { startRemote } from "./remote.ts";

const FILM = { bytes: 4_000_000_000, bitrate: 4_300_000, size: "1280x720" } as const;
const TRIM_SECONDS = 10;

interface Job {
  /** The request of the task, at a time in the film. */
  task(start: number): Record<string, unknown>;
  /** ffmpeg's options before and after the input, for the same. */
  args(start: number, url: string, out: string): string[];
  description: string;
}

const JOBS = {
  still: {
    task: (start) => ({ kind: "image", options: { format: "jpeg", start } }),
    args: (start, url, out) => ["-ss", String(start), "-i", url, "-frames:v", "1", `${out}.jpg`],
    description: "a still",
  },
  trim: {
    task: (start) => ({ kind: "video", options: { start, end: start + TRIM_SECONDS } }),
    args: (start, url, out) => {
      const span = ["-ss", String(start), "-t", String(TRIM_SECONDS)];
      return [...span, "-i", url, ..."-c:v libx264 -preset fast -crf 23 -c:a aac".split(" "), `${out}.mp4`];
    },
    description: `${TRIM_SECONDS} seconds in the middle`,
  },
} as const satisfies Record<string, Job>;

/** A task that needs little of a film of 4 GB, against ffmpeg on the same URL: the time, and the bytes that each makes the server send. */
export const pinnedBenchmarks: readonly Benchmark[] = Object.entries(JOBS).flatMap(([name, job]) => [
  { name: `${name}-from-4gb`, unit: "s", open: (ends) => openJob(job, "seconds", ends) },
  { name: `${name}-from-4gb-bytes`, unit: "bytes", open: (ends) => openJob(job, "bytes", ends) },
]);

async function openJob(job: Job, unit: "seconds" | "bytes", ends: AsyncDisposableStack): Promise<Contest> {
  const film = await makeFilm(FILM, ends);
  const remote = await startRemote(film.file, "film.mp4", ends);
  const lab = await openLab(ends);
  const starts = createStarts(film.seconds);
  const sample = async (seconds: number): Promise<Measurement> => {
    const { bytes, requests } = await remote.take();
    return { value: unit === "bytes" ? bytes : seconds, seconds, bytes, requests };
  };
  let start = 0;
  let encoder = "";
  return {
    async peer() {
      start = starts();
      const out = join(lab.dir, `peer-${start}`);
      const { seconds } = await runCommand("ffmpeg", ["-v", "error", ...job.args(start, remote.url, out)]);
      return sample(seconds);
    },
    async ours() {
      const { task, seconds } = await lab.runTask({ input: remote.url, ...job.task(start) });
      encoder = encoderOf(task);
      return sample(seconds);
    },
    notes(ours, peer) {
      const side = (samples: readonly Measurement[]) =>
        `${short(medianOf(samples, "seconds"))} s, ${short(medianOf(samples, "bytes") / 1e6)} MB in ${short(medianOf(samples, "requests"))} requests`;
      return [
        `${job.description} of ${short(film.seconds / 60)} minutes, ${FILM.size}, index at the end, by the ${encoder} encoder;`,
        `ours ${side(ours)} from POST /tasks to its end; ffmpeg ${side(peer)};`,
        "the server sends 16 KB a millisecond at most and counts what it sends",
      ].join(" ");
    },
  };
}

function encoderOf({ steps }: Task): string {
  return steps[2]?.output?.encoder ?? "";
}

// Another place every time, the same for both sides; odd steps meet a keyframe at every distance.
function createStarts(seconds: number): () => number {
  let round = 0;
  return () => Math.round(seconds * 0.4) + 0.52 + round++ * 61.3;
}
