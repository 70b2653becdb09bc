import type { Source } from "../../src/media/source.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { makeFilm } from "../film.ts";
import { openLab } from "../lab.ts";
import { medianOf } from "../measure.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { startRemote } from "./remote.ts";

const FILM = { bytes: 1_000_000_000, bitrate: 40_000_000, size: "1280x720" } as const;
const BYTES_PER_SECOND = 50_000_000;
const OPTIONS = { width: 320 } as const;

/** A task on 1 GB of a slow server, against the longer of its download and its encode, each by itself. */
export const overlapBenchmarks: readonly Benchmark[] = [
  { name: "task-overlap", unit: "s", open: openOverlap },
];

async function openOverlap(ends: AsyncDisposableStack): Promise<Contest> {
  const film = await makeFilm(FILM, ends);
  const remote = await startRemote(film.file, "film.mp4", ends, BYTES_PER_SECOND);
  const lab = await openLab(ends);
  const { output } = await lab.runStep({ kind: "ingest", input: { url: remote.url } });
  const stored = output as Source;
  return {
    async peer(): Promise<Measurement> {
      const { seconds: download } = await runCommand("curl", [
        "-sS",
        "--fail",
        "-o",
        "/dev/null",
        remote.url,
      ]);
      const started = performance.now();
      await lab.runStep({ kind: "video", input: stored, options: OPTIONS });
      const encode = (performance.now() - started) / 1000;
      return { value: Math.max(download, encode), download, encode };
    },
    async ours(): Promise<Measurement> {
      await remote.take();
      const { seconds } = await lab.runTask({ input: remote.url, kind: "video", options: OPTIONS });
      return { value: seconds, ...(await remote.take()) };
    },
    notes(ours, peer) {
      return [
        `${short(film.seconds)} s of ${FILM.size} to ${OPTIONS.width} wide, 1 GB at 50 MB/s in all;`,
        `the download alone ${short(medianOf(peer, "download"))} s, the encode step alone ${short(medianOf(peer, "encode"))} s;`,
        `ours fetched ${short(medianOf(ours, "bytes") / 1e6)} MB in ${short(medianOf(ours, "requests"))} requests`,
      ].join(" ");
    },
  };
}
