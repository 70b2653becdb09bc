import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { LISTS, listPackets, listPictures, readLists } from "../../src/media/ffmpeg/packet-count.ts";
import { NATIVE_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { createTrim } from "../../src/media/ffmpeg/trim.ts";
import { createPlan } from "../../src/media/index.ts";
import { countContents } from "../../src/mux/contents.ts";
import { openFile } from "../../test/encoders/native-encoder.ts";
import type { Benchmark, Contest } from "../benchmark.ts";
import { makeFootage } from "../footage.ts";
import { short } from "../report.ts";
import { runCommand } from "../run-command.ts";
import { makeScratch } from "../scratch.ts";

const SECONDS = 60;
const OPTIONS = { width: 854 } as const;

/** The cost of counting in addition to the encode itself. */
export const integrityBenchmarks: readonly Benchmark[] = [
  { name: "integrity-cost", unit: "s", open: openCost },
];

async function openCost(ends: AsyncDisposableStack): Promise<Contest> {
  const { path, source } = await makeFootage(SECONDS);
  const folder = await makeScratch(ends);
  const plan = createPlan(source, "video", OPTIONS);
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("The plan is empty.");
  const output = join(folder, "out.mp4");
  const lists = `${folder}/`;
  const cut = createTrim(plan, chunk, source);
  // As many pictures as the clip has, but tiny, so that listing them is all that takes time.
  const pictures = `nullsrc=size=16x16:rate=${source.fps}:duration=${SECONDS},${listPictures(lists)}`;
  const encode = chunkArgs(plan, chunk, source, { input: path, output }, NATIVE_TOOLS);
  let totals = "";
  return {
    async peer() {
      return { value: await timeFfmpeg(encode) };
    },
    async ours() {
      const packets = listPackets(plan, chunk, source, cut, lists);
      const packetSeconds = await timeFfmpeg(["-i", path, ...packets]);
      const pictureSeconds = await timeFfmpeg(["-f", "lavfi", "-i", pictures, "-f", "null", "-"]);
      const texts = Object.values(LISTS).map(
        async (name) => [name, await readFile(join(folder, name), "utf8")] as const,
      );
      const read = new Map<string, string>(await Promise.all(texts));
      const before = process.cpuUsage();
      const counts = readLists(plan, chunk, source, (name) => read.get(name) ?? null);
      const contents = await countContents(await openFile(output));
      const { user, system } = process.cpuUsage(before);
      totals = `${contents.pictures} pictures, ${short(counts.sound ?? 0)} s of sound`;
      return { value: packetSeconds + pictureSeconds + (user + system) / 1e6 };
    },
    notes: () =>
      `processor time; ${SECONDS} s of 1280x720 to ${OPTIONS.width} wide H.264 (${totals}); ours lists packets and pictures in two separate runs of ffmpeg, including their start, reads the lists and counts the output`,
  };
}

// Returns the seconds of processor time that ffmpeg reports.
async function timeFfmpeg(args: readonly string[]): Promise<number> {
  const { stderr } = await runCommand("ffmpeg", ["-nostdin", "-y", "-nostats", "-benchmark", ...args]);
  const [, user, system] = /bench: utime=([\d.]+)s stime=([\d.]+)s/.exec(stderr) ?? [];
  if (user === undefined) throw new Error("ffmpeg did not report its processor time.");
  return Number(user) + Number(system);
}
