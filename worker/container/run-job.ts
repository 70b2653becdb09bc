import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { NativeJob, NativeState } from "../../src/encoders/native/native-wire.ts";
import { outputFile } from "../../src/ffmpeg/output.ts";
import { nothing } from "../../src/ffmpeg/read-failure.ts";
import { refuseTools } from "../../src/ffmpeg/refuse-tools.ts";
import { checkSegments, readSegments } from "./check-segments.ts";
import { decodeInput } from "./decode-input.ts";
import { readersOf } from "./demuxers.ts";
import { type Bench, encode, type RunHooks, readTally } from "./encode-job.ts";
import { errors } from "./errors.ts";
import { type InputPlace, jobTools } from "./job-tools.ts";
import { createPuts, listOutput, readPlaylists } from "./put-output.ts";
import { removeFolder } from "./scratch.ts";
import type { BatchPlace, Member } from "./together/batches.ts";
import { createRunBatch } from "./together/run-batch.ts";
import { measureSideBySide } from "./together/side-by-side.ts";

/** How one job is followed and ended. */
export interface JobHooks extends RunHooks {
  /** Its place among the jobs that it may be encoded together with; null for none. */
  batch: BatchPlace | null;
}

/** What a job that went well gave. */
export type JobResult = Omit<Extract<NativeState, { state: "done" }>, "state">;

// The rest is for putting the output up.
const ENCODE_SHARE = 0.95;
// Of a job whose input is decoded first.
const DECODE_SHARE = 0.3;

/** Encodes a chunk in a folder of its own, puts its files up, and leaves nothing behind, whatever happens. Rejects with a {@link MediaError}, or as the signal says. */
export async function runJob(
  given: NativeJob,
  bench: Bench,
  { signal, onProgress, fits, batch }: JobHooks,
): Promise<JobResult> {
  const { installed, settings } = bench;
  // Keyframes are read faster on several, though each takes little.
  const threads = isShort(given) && !given.plan.image?.sheet ? 1 : settings.threads;
  const { lacks, endless } = installed;
  // Also where the common run failed: alone, it has to come out the same.
  const isRendition = given.together !== undefined;
  const toolsFor = (format: string, from: InputPlace) =>
    jobTools(threads, { lacks, endless, readers: readersOf(format), from, isRendition });
  const givenTools = toolsFor(given.source.format, "loopback");
  const refusal = refuseTools(given.plan, given.source, givenTools);
  if (refusal) {
    throw errors.refused({ refusals: [{ encoder: "native", ...refusal }] });
  }
  const home = await bench.scratch.create();
  // ffmpeg also makes folders beside the one it works in: `../360p`, of the name of a stream's first segment.
  const folder = join(home, "work");
  const puts = createPuts(given.folder, signal);
  try {
    const out = join(folder, "out");
    await mkdir(out, { recursive: true });
    const decoded = await decodeInput(given, {
      ...{ folder, installed, limits: settings, signal, fits },
      onProgress: (share) => onProgress(share * DECODE_SHARE, null),
    });
    const { job, path } = decoded ?? { job: given, path: null };
    const before = decoded ? DECODE_SHARE : 0;
    const onRest: typeof onProgress = (share, speed) => onProgress(before + share * (1 - before), speed);
    const { plan, chunk } = job;
    const tools = path === null ? givenTools : toolsFor(job.source.format, "file");
    const member = { job, folder, signal, onProgress: part(onRest), fits };
    const encodeIn = (own: Member, points_before?: number) =>
      encode(own.job, bench, { ...own, path, tools, puts, points_before });
    const alone = () => encodeIn(member);
    let tally = await measureSideBySide(member, settings.threads, encodeIn);
    if (tally === null) {
      if (batch && path === null) await batch.encode(member, createRunBatch(bench, tools), alone);
      else await alone();
      tally = await readTally(job, folder);
    }
    const single = job.name === null ? null : { name: job.name, mime: outputFile(plan, chunk).mime };
    const files = await listOutput(out, single);
    if (!files.some(({ size }) => size > 0)) throw nothing(plan);
    if (plan.kind === "adaptive_video") await checkSegments(files);
    const facts = new Map(single === null ? await readSegments(files) : []);
    const isPlaylist = ({ name }: { name: string }) => single === null && name.endsWith(".m3u8");
    const playlists = await readPlaylists(files.filter(isPlaylist));
    const rest = files.filter((file) => !isPlaylist(file));
    await puts.end(rest, (share) => onRest(ENCODE_SHARE + share * (1 - ENCODE_SHARE), null));
    const written = rest.map(({ name, mime, size }) => ({ name, mime, size, ...facts.get(name) }));
    return { written, playlists, tally };
  } finally {
    await puts.stop();
    await removeFolder(home);
  }
}

// Of a run without the putting up of what it wrote.
function part(onProgress: JobHooks["onProgress"]): JobHooks["onProgress"] {
  return (share, speed) => onProgress(share * ENCODE_SHARE, speed);
}

/** True for a job that takes little time and memory: an image, a storyboard of keyframes, or sound alone. */
export function isShort({ plan, chunk }: Pick<NativeJob, "plan" | "chunk">): boolean {
  const { video, image } = plan;
  if (chunk.track === "audio") return true;
  return video?.mode !== "encode" && !image?.motion && (!image?.sheet || chunk.keyframes_only === true);
}
