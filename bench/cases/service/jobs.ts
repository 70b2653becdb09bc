import { createRemoteClient } from "../../../src/client/remote.ts";
import type { Job } from "../../../src/runs/job.ts";
import type { Task } from "../../../src/runs/task.ts";
import type { Benchmark, Contest, Measurement } from "../../benchmark.ts";
import { makeFilm } from "../../film.ts";
import { KEY, openLab } from "../../lab.ts";
import { medianOf } from "../../measure.ts";
import { short } from "../../report.ts";
import { startRemote } from "../remote.ts";

// Half a minute.
const FILM = { bytes: 16_000_000, bitrate: 4_300_000, size: "1280x720" } as const;
const OUTPUTS = [
  { kind: "video", options: { height: 480 } },
  { kind: "video", options: { height: 240 } },
  { kind: "image", options: { format: "jpeg", start: 12.52 } },
  { kind: "storyboard", options: { interval: 5 } },
  { kind: "audio", options: { format: "mp3" } },
] as const;

/** Five outputs of one film as a job, against a task for each, all created at once: the time, and the bytes that each makes the server send. */
export const jobBenchmarks: readonly Benchmark[] = [
  { name: "job-of-five-vs-five-tasks", unit: "s", open: (ends) => openContest("seconds", ends) },
  { name: "job-of-five-vs-five-tasks-bytes", unit: "bytes", open: (ends) => openContest("bytes", ends) },
];

async function openContest(unit: "seconds" | "bytes", ends: AsyncDisposableStack): Promise<Contest> {
  const film = await makeFilm(FILM, ends);
  const remote = await startRemote(film.file, "film.mp4", ends);
  const lab = await openLab(ends);
  const input = remote.url;
  // Events come at once; polls, which grow rarer, would see an end seconds late.
  const client = createRemoteClient({ baseUrl: lab.service.url, apiKey: KEY });
  const end = async (task: Task) => {
    for await (const { record, error } of client.watch(task.id)) {
      if (error) throw new Error(`The task ${task.kind} is ${record.status}: ${error.message}`);
    }
  };
  const measure = async (create: () => Promise<Task[]>): Promise<Measurement> => {
    const started = performance.now();
    await Promise.all((await create()).map(end));
    const seconds = (performance.now() - started) / 1000;
    const { bytes, requests } = await remote.take();
    await lab.discardStored();
    return { value: unit === "bytes" ? bytes : seconds, seconds, bytes, requests };
  };
  return {
    ours: () =>
      measure(async () => (await lab.call<Job>("POST", "/jobs", { input, outputs: OUTPUTS })).tasks),
    peer: () =>
      measure(() =>
        Promise.all(OUTPUTS.map((output) => lab.call<Task>("POST", "/tasks", { ...output, input }))),
      ),
    notes(ours, peer) {
      const side = (samples: readonly Measurement[]) =>
        `${short(medianOf(samples, "seconds"))} s, ${short(medianOf(samples, "bytes") / 1e6)} MB in ${short(medianOf(samples, "requests"))} requests`;
      return [
        `two videos, a still, a storyboard and sound of ${film.seconds} s, ${FILM.size}, ${short(film.file.size / 1e6)} MB;`,
        `the job ${side(ours)}; five tasks ${side(peer)}`,
      ].join(" ");
    },
  };
}
