import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { NativeJob, NativeState } from "../../src/encoders/native/native-wire.ts";
import { outputFile } from "../../src/media/ffmpeg/output-files.ts";
import { emptyOutput } from "../../src/media/ffmpeg/run-log.ts";
import { refuseTools } from "../../src/media/ffmpeg/toolset.ts";
import { type BatchMembership, createRunBatch, type Member, measureInParallel } from "./batches.ts";
import { decodeInput } from "./decoder.ts";
import { encode, type JobContext, type RunHooks, readPacketCounts } from "./encode-job.ts";
import * as errors from "./errors.ts";
import { demuxersFor, type InputProtocol, jobTools } from "./ffmpeg-args.ts";
import {
  checkSegments,
  createUploads,
  listOutput,
  readPlaylists,
  readSegments,
  removeFolder,
} from "./files.ts";

/** The hooks of a job's run. */
export interface JobHooks extends RunHooks {
  /** The batch of the job; null if it has none. */
  batch: BatchMembership | null;
}

/** The result of a successful job. */
export type JobResult = Omit<Extract<NativeState, { state: "done" }>, "state">;

const ENCODE_SHARE = 0.95;
const DECODE_SHARE = 0.3;

/** Encodes a chunk in its own folder, uploads its files and always removes the folder. Rejects with a {@link MediaError}, or with the signal's reason. */
export async function runJob(
  job: NativeJob,
  context: JobContext,
  { signal, onProgress, fits, batch }: JobHooks,
): Promise<JobResult> {
  const { installed, settings } = context;
  const threads = isShort(job) && !job.plan.image?.sheet ? 1 : settings.threads;
  const { lacks, endless } = installed;
  // A job of a failed batch must give the same output alone.
  const isRendition = job.together !== undefined;
  const toolsFor = (format: string, protocol: InputProtocol) =>
    jobTools(threads, { lacks, endless, demuxers: demuxersFor(format), protocol, isRendition });
  const ownTools = toolsFor(job.source.format, "loopback");
  const refusal = refuseTools(job.plan, job.source, ownTools);
  if (refusal) {
    throw errors.refused({ refusals: [{ encoder: "native", ...refusal }] });
  }
  const home = await context.scratch.create();
  // ffmpeg also creates folders beside its own, such as `../360p` for the first segment of a stream.
  const folder = join(home, "work");
  const uploads = createUploads(job.folder, signal);
  try {
    const out = join(folder, "out");
    await mkdir(out, { recursive: true });
    const decoded = await decodeInput(job, {
      folder,
      installed,
      limits: settings,
      signal,
      fits,
      onProgress: (share) => onProgress(share * DECODE_SHARE, null),
    });
    const { job: encodeJob, path } = decoded ?? { job, path: null };
    const offset = decoded ? DECODE_SHARE : 0;
    const onRest: typeof onProgress = (share, speed) => onProgress(offset + share * (1 - offset), speed);
    const { plan, chunk } = encodeJob;
    const tools = path === null ? ownTools : toolsFor(encodeJob.source.format, "file");
    const onEncode: typeof onProgress = (share, speed) => onRest(share * ENCODE_SHARE, speed);
    const member = { job: encodeJob, folder, signal, onProgress: onEncode, fits };
    const encodeIn = (own: Member, points_before?: number) =>
      encode(own.job, context, { ...own, path, tools, uploads, points_before });
    const alone = () => encodeIn(member);
    let counts = await measureInParallel(member, settings.threads, encodeIn);
    if (counts === null) {
      if (batch && path === null) await batch.encode(member, createRunBatch(context, tools), alone);
      else await alone();
      counts = await readPacketCounts(encodeJob, folder);
    }
    const single = job.name === null ? null : { name: job.name, mime: outputFile(plan, chunk).mime };
    const files = await listOutput(out, single);
    if (!files.some(({ size }) => size > 0)) throw emptyOutput(plan);
    if (plan.kind === "adaptive_video") await checkSegments(files);
    const facts = new Map(single === null ? await readSegments(files) : []);
    const isPlaylist = ({ name }: { name: string }) => single === null && name.endsWith(".m3u8");
    const playlists = await readPlaylists(files.filter(isPlaylist));
    const rest = files.filter((file) => !isPlaylist(file));
    await uploads.end(rest, (share) => onRest(ENCODE_SHARE + share * (1 - ENCODE_SHARE), null));
    const written = rest.map(({ name, mime, size }) => ({ name, mime, size, ...facts.get(name) }));
    return { written, playlists, tally: counts };
  } finally {
    await uploads.stop();
    await removeFolder(home);
  }
}

/** Returns whether a job takes little time and memory: an image, a storyboard of keyframes, or only sound. */
export function isShort({ plan, chunk }: Pick<NativeJob, "plan" | "chunk">): boolean {
  const { video, image } = plan;
  if (chunk.track === "audio") return true;
  return video?.mode !== "encode" && !image?.motion && (!image?.sheet || chunk.keyframes_only === true);
}
