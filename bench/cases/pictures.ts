import { join } from "node:path";
import type { Benchmark, Contest } from "../benchmark.ts";
import { makeFootage } from "../footage.ts";
import { runCommand } from "../run-command.ts";
import { describeChoice, openHeavy } from "./heavy.ts";

interface Film {
  seconds: number;
  rate: number;
}

// The first one does the same work for each second of film; at 25 pictures a second, an hour would take ffmpeg a quarter of an hour.
const FILMS = { short: { seconds: 300, rate: 25 }, hour: { seconds: 3600, rate: 10 } } as const;
const OPTIONS = { interval: 10, width: 160, columns: 5, rows: 5 } as const;

/** Small pictures of a long film, made by the service, against ffmpeg by hand. */
export const pictureBenchmarks: readonly Benchmark[] = [
  { name: "storyboard-vs-ffmpeg", unit: "s", open: (ends) => openStoryboard(ends, FILMS.short) },
  { name: "storyboard-hour-vs-ffmpeg", unit: "s", open: (ends) => openStoryboard(ends, FILMS.hour) },
];

async function openStoryboard(ends: AsyncDisposableStack, { seconds, rate }: Film): Promise<Contest> {
  const footage = await makeFootage(seconds, rate);
  const heavy = await openHeavy(footage, ends, 1);
  const { interval, width, columns, rows } = OPTIONS;
  const sheets = join(heavy.lab.dir, "sheet_%04d.jpg");
  const filter = `fps=1/${interval},scale=${width}:-2,tile=${columns}x${rows}`;
  let choice = "";
  return {
    async peer() {
      const args = ["-nostdin", "-y", "-loglevel", "error", "-i", footage.path, "-an", "-vf", filter, sheets];
      return { value: (await runCommand("ffmpeg", args)).seconds };
    },
    async ours() {
      const { output, seconds: duration } = await heavy.encode("storyboard", OPTIONS);
      choice = `${(output.files?.length ?? 0) - 2} sheets, ${describeChoice(output)}`;
      return { value: duration };
    },
    notes: () =>
      `${seconds / 60} minutes of 1280x720 at ${rate} pictures a second, a tile every ${interval} s; ours from POST /steps to its end: ${choice}`,
  };
}
