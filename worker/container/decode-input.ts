import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { MediaError } from "../../src/core/errors.ts";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { diskFull } from "../../src/ffmpeg/read-failure.ts";
import { decodedPlan, decodedSource, needsDecoder } from "../../src/plan/image/decoded.ts";
import { MIB } from "../../src/util/bytes.ts";
import type { Installed, Limits } from "./installed.ts";
import { readInput } from "./read-input.ts";
import { runProgram } from "./run-ffmpeg.ts";
import { type Watchdog, watch } from "./watchdog.ts";

/** What a decoder is run with. */
export interface DecoderRun {
  /** Its folder. */
  folder: string;
  installed: Installed;
  limits: Limits & { stall_seconds: number };
  signal: AbortSignal;
  /** Returns whether the machine has so many bytes for this job, beside the others. */
  fits(bytes: number): boolean;
}

/** A picture that ffmpeg reads from disk, and the job as it is from there on. */
export interface DecodedInput {
  job: NativeJob;
  path: string;
}

const BLOCK = 4 * MIB;
const [STORED, DECODED] = ["picture.heif", "picture.png"] as const;

/** Decodes a job's input where ffmpeg cannot, into a PNG in the run's folder; null where ffmpeg reads the input itself. */
export async function decodeInput(job: NativeJob, run: DecoderRun): Promise<DecodedInput | null> {
  const { plan, source, input } = job;
  if (!(plan.image || plan.video?.mode === "encode") || !needsDecoder(source)) return null;
  const { heif } = run.installed;
  // ffmpeg reads a plain AVIF too.
  if (heif === null && source.format === "avif") return null;
  if (heif === null) {
    throw new MediaError(
      "encoder_unavailable",
      "This native encoder has no decoder of HEIC: install libheif-examples beside its ffmpeg.",
    );
  }
  await store(input, join(run.folder, STORED), run.signal);
  await decode(heif, run);
  return {
    job: { ...job, plan: decodedPlan(plan), source: decodedSource(source, "png") },
    path: join(run.folder, await primaryOf(heif, run)),
  };
}

async function store(input: NativeJob["input"], path: string, signal: AbortSignal): Promise<void> {
  const file = await open(path, "w");
  try {
    for (let start = 0; start < input.size; start += BLOCK) {
      const end = Math.min(input.size, start + BLOCK);
      await file.write(await readInput(input, { start, end }, signal));
    }
  } finally {
    await file.close();
  }
}

async function decode(heif: string, { folder, installed, limits, signal, fits }: DecoderRun): Promise<void> {
  let watchdog: Watchdog | undefined;
  const end = await runProgram(heif, {
    ...{ args: [STORED, DECODED], cwd: folder, installed, limits, signal },
    onProgress() {},
    onStart(ffmpeg) {
      const { stall_seconds } = limits;
      watchdog = watch({ ffmpeg, progress: () => 0, waits: () => false, fits, folder, stall_seconds });
    },
  });
  watchdog?.stop();
  signal.throwIfAborted();
  const ended = watchdog?.fault();
  if (ended) throw ended;
  if (end.code === 0) return;
  const cause = end.log.join("\n");
  if (end.signal === "SIGXFSZ" || /No space left/.test(cause)) throw diskFull(cause);
  if (end.signal === "SIGKILL" || end.signal === "SIGTERM") {
    throw new MediaError("worker_lost", "The decoder was terminated from outside; try again.", { cause });
  }
  if (/[Aa]lloc/.test(cause)) {
    throw new MediaError("out_of_memory", "The picture needs more memory than this encoder has.", { cause });
  }
  throw new MediaError(
    "input_unsupported",
    "The picture is damaged, or of a kind that libheif cannot decode.",
    {
      cause,
    },
  );
}

// Of a file with several pictures, each becomes a file with its number; `heif-info` says which is meant.
async function primaryOf(heif: string, { folder, installed, limits, signal }: DecoderRun): Promise<string> {
  const names = (await readdir(folder)).filter((name) => /^picture(-\d+)?\.png$/.test(name));
  if (names.includes(DECODED)) return DECODED;
  const pictures: string[] = [];
  await runProgram("heif-info", {
    ...{ args: [STORED], cwd: folder, installed, limits, signal },
    onProgress: (line) => line.startsWith("image: ") && pictures.push(line),
    onStart() {},
  });
  signal.throwIfAborted();
  const first =
    Math.max(
      0,
      pictures.findIndex((line) => line.endsWith(", primary")),
    ) + 1;
  const name = `picture-${first}.png`;
  if (names.includes(name)) return name;
  throw new MediaError("encode_failed", `${heif} wrote no picture.`);
}
