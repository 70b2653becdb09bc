import { stat } from "node:fs/promises";
import { join } from "node:path";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { NATIVE_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { type Chunk, createPlan, type Plan } from "../../src/media/index.ts";
import { nativeOffer } from "../../src/media/route.ts";
import type { Source } from "../../src/media/source.ts";
import { stitch } from "../../src/mux/stitch.ts";
import { openFile } from "../../test/encoders/native-encoder.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { makeFootage } from "../footage.ts";
import { median } from "../measure.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { makeScratch } from "../scratch.ts";
import { type Costs, type Run, simulate } from "./scale.ts";

const FILM_SECONDS = 7200;
const CONTAINERS = [1, 2, 4, 8, 16, 32, 64, 128] as const;
const SAMPLE_SECONDS = 24;
// A sleeping container takes 1 to 3 seconds to answer (https://developers.cloudflare.com/containers/); requesting and storing
// take part of one.
const START_SECONDS = 3;
const ASK_SECONDS = 0.5;
const OPTIONS = { codec: "h265" } as const;

/** A film of two hours on 1 to 128 containers, computed from what its chunks take here. */
export const scaleBenchmarks: readonly Benchmark[] = [{ name: "scale-simulation", unit: "s", open }];

async function open(ends: AsyncDisposableStack): Promise<Contest> {
  const dir = await makeScratch(ends);
  const footage = await makeFootage(SAMPLE_SECONDS);
  const encodeChunk = async (plan: Plan, chunk: Chunk, output: string) => {
    const args = chunkArgs(plan, chunk, footage.source, { input: footage.path, output }, NATIVE_TOOLS);
    return (await runCommand("ffmpeg", ["-nostdin", "-y", "-loglevel", "error", ...args])).seconds;
  };
  const measured: Costs[] = [];
  let runs: Run[] = [];
  return {
    peer: null,
    async ours() {
      const plan = createPlan(footage.source, "video", OPTIONS, { chunk_seconds: SAMPLE_SECONDS / 4 });
      const costs = await measure(plan, dir, encodeChunk);
      measured.push(costs);
      runs = CONTAINERS.map((containers) => run(footage.source, containers, costs));
      return { value: runs.at(-1)?.seconds ?? Number.NaN };
    },
    notes() {
      const of = (pick: (costs: Costs) => number) => short(median(measured.map(pick)));
      const rows = runs.map(
        ({ containers, chunks, seconds, efficiency, dollars }) =>
          `${containers}: ${chunks} chunks, ${short(seconds)} s, ${Math.round(efficiency * 100)} %, $${dollars.toFixed(2)}`,
      );
      return [
        `two hours of 1280x720 H.264 to H.265 with ${CONTAINERS.at(-1)} containers of two processors; measured on this machine's two:`,
        `${of((each) => each.picture)} s for a second of pictures, ${of((each) => each.sound)} s of sound, ${of((each) => each.stitch)} s to put together;`,
        `containers: chunks, time, share of it spent encoding, price; ${rows.join("; ")}; ${limitOf(runs, measured)}`,
      ].join(" ");
    },
  };
}

// Two chunks of different lengths show the cost of a chunk and of a second of it.
async function measure(
  plan: Plan,
  dir: string,
  encode: (plan: Plan, chunk: Chunk, output: string) => Promise<number>,
): Promise<Costs> {
  const pictures = plan.chunks.filter(({ track }) => track === "video");
  const audio = plan.chunks.find(({ track }) => track === "audio");
  if (!audio || pictures.length < 2) throw new Error("The plan is meant to be cut.");
  const seconds: number[] = [];
  const files: { path: string; at: number }[] = [];
  for (const chunk of pictures) {
    const path = join(dir, `${chunk.index}.mp4`);
    seconds.push((await encode(plan, chunk, path)) / ((chunk.end ?? SAMPLE_SECONDS) - chunk.start));
    files.push({ path, at: chunk.start });
  }
  const sound = join(dir, "sound.mp4");
  const soundSeconds = await encode(plan, audio, sound);
  const started = performance.now();
  const video = await Promise.all(files.map(async ({ path, at }) => ({ input: await openFile(path), at })));
  let bytes = 0;
  for await (const part of stitch({ format: "mp4", video, audio: await openFile(sound) }))
    bytes += part.length;
  if (bytes < (await stat(sound)).size) throw new Error("The stitched file is too small.");
  return {
    picture: median(seconds),
    chunk: ASK_SECONDS,
    sound: soundSeconds / SAMPLE_SECONDS,
    stitch: (performance.now() - started) / 1000 / SAMPLE_SECONDS,
    start: START_SECONDS,
  };
}

function run(clip: Source, containers: number, costs: Costs): Run {
  const size = ((clip.filesize ?? 0) * FILM_SECONDS) / (clip.duration ?? 1);
  const streams = clip.streams?.map((stream) => ({ ...stream, duration: FILM_SECONDS })) ?? [];
  const film = { ...clip, duration: FILM_SECONDS, filesize: size, streams };
  const uncut = createPlan(film, "video", OPTIONS);
  const host = { refusal: null, instances: containers, cores: 2, max_in_flight: containers };
  const { chunk_seconds } = nativeOffer(uncut, film, host);
  const plan = createPlan(film, "video", OPTIONS, chunk_seconds === null ? {} : { chunk_seconds });
  const pictures = chunk_seconds === null ? [] : plan.chunks.filter(({ track }) => track === "video");
  const lengths = pictures.map(({ start, end }) => (end ?? FILM_SECONDS) - start);
  return simulate(lengths.length > 0 ? lengths : [FILM_SECONDS], FILM_SECONDS, containers, costs);
}

function limitOf(runs: readonly Run[], measured: readonly Costs[]): string {
  const last = measured.at(-1);
  const good = runs.filter(({ efficiency }) => efficiency >= 0.5).at(-1);
  if (!last || !good) return "";
  const stitching = FILM_SECONDS * last.stitch;
  const sound = FILM_SECONDS * last.sound;
  return `more than half of the time is spent encoding up to ${good.containers} containers; what stays is ${short(stitching)} s to put the parts together, one after another, and ${short(sound)} s for the sound, which is one piece`;
}
