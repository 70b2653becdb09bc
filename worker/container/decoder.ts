import { open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { composeFrames, readAnimation, type WebpFrame } from "../../src/encoders/images/animation.ts";
import { writeApng } from "../../src/encoders/images/png.ts";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import {
  composesFrames,
  decodedPlan,
  decodedSource,
  needsDecoder,
} from "../../src/media/decoded-pictures.ts";
import * as ffmpegErrors from "../../src/media/ffmpeg/errors.ts";
import { LOSSLESS_FORMAT } from "../../src/media/formats.ts";
import type { Source } from "../../src/media/source.ts";
import { MIB } from "../../src/util/bytes.ts";
import * as errors from "./errors.ts";
import { runProgram, type Watchdog, watch } from "./ffmpeg-process.ts";
import { readInput } from "./input.ts";
import type { Installed, Limits } from "./installed.ts";

/** A decoded picture, and the job that reads it instead of the input. */
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
  const decoded = {
    ...job,
    plan: decodedPlan(plan, source),
    source: decodedSource(source, LOSSLESS_FORMAT.image),
  };
  const { heif, dwebp } = run.installed;
  if (composesFrames(source)) {
    if (!dwebp) throw errors.decoderMissing({ format: "animated WebP", package_name: "webp" });
    return { job: decoded, path: await decodeWebp(input, run) };
  }
  // ffmpeg reads a plain AVIF too.
  if (heif === null && source.format === "avif") return null;
  if (heif === null) throw errors.decoderMissing({ format: "HEIC", package_name: "libheif-examples" });
  const stored = join(run.folder, STORED);
  await store(input, stored, run.signal);
  if (source.format === "heic") await setBrand(stored);
  await runDecoder(heif, [STORED, DECODED], run);
  let path = join(run.folder, await primaryOf(heif, run));
  // heif-convert (1.15) succeeds with an empty file when libpng rejects a color profile, such as HP's old sRGB.
  if ((await stat(path)).size === 0) {
    await hideProfiles(stored);
    await runDecoder(heif, [STORED, DECODED], run);
    path = join(run.folder, await primaryOf(heif, run));
    if ((await stat(path)).size === 0) throw errors.decoderWroteNothing({ program: heif });
  }
  return { job: withRange(decoded, source), path };
}

const BRAND = { text: "heic", at: 8 } as const;

// heif-convert (1.15) refuses a picture whose first brand is that of sequences.
async function setBrand(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.write(BRAND.text, BRAND.at, "latin1");
  } finally {
    await file.close();
  }
}

const PROFILE_BOX = /colr(?=prof|rICC)/g;

// The plan already has the profile's colors.
async function hideProfiles(path: string): Promise<void> {
  const bytes = await readFile(path);
  for (const { index } of bytes.toString("latin1").matchAll(PROFILE_BOX)) bytes.write("free", index);
  await writeFile(path, bytes);
}

// libheif writes black and white as it is stored, of limited range too.
function withRange(job: NativeJob, { pixel_format = "", color }: Source): NativeJob {
  if (!pixel_format.startsWith("gray") || color?.range !== "limited") return job;
  return { ...job, source: { ...job.source, color: { hdr: false, ...job.source.color, range: "limited" } } };
}

async function store(input: NativeJob["input"], path: string, signal: AbortSignal): Promise<void> {
  const file = await open(path, "w");
  try {
    for (let start = 0; start < input.size; start += BLOCK) {
      const end = Math.min(input.size, start + BLOCK);
      await file.writeFile(await readInput(input, { start, end }, signal));
    }
  } finally {
    await file.close();
  }
}

// libheif writes each picture of a file to a numbered file; `heif-info` tells which one is the primary.
async function primaryOf(heif: string, run: DecoderRun): Promise<string> {
  const names = (await readdir(run.folder)).filter((name) => /^picture(-\d+)?\.png$/.test(name));
  if (names.includes(DECODED)) return DECODED;
  const pictures: string[] = [];
  await runDecoder("heif-info", [STORED], run, (line) => line.startsWith("image: ") && pictures.push(line));
  const first =
    Math.max(
      0,
      pictures.findIndex((line) => line.endsWith(", primary")),
    ) + 1;
  const name = `picture-${first}.png`;
  if (names.includes(name)) return name;
  throw errors.decoderWroteNothing({ program: heif });
}

const MAX_BYTES = 256 * MIB;
const CANVASES = 5;
const MAX_HEADER = 1024;
const [STILL, PIXELS] = ["frame.webp", "frame.pam"] as const;

/** Decodes an animated WebP into an APNG in the run's folder, frame by frame with `dwebp`, which reads stills only; returns its path. */
export async function decodeWebp(input: NativeJob["input"], run: DecoderRun): Promise<string> {
  if (input.size > MAX_BYTES) {
    throw errors.largeWebp({ max_bytes: MAX_BYTES });
  }
  const animation = readAnimation(await readInput(input, { start: 0, end: input.size }, run.signal));
  const { width, height, frames } = animation;
  // No watchdog limits this process, and a file of a few bytes can declare a canvas of gigabytes.
  const ownBytes = 2 * input.size + CANVASES * 4 * width * height;
  const decoder = { ...run, fits: (bytes: number) => run.fits(bytes + ownBytes) };
  if (!decoder.fits(0)) throw errors.memoryExceeded();
  const path = join(run.folder, "picture.png");
  const file = await open(path, "w");
  try {
    let done = 0;
    const composed = composeFrames(animation, async (frame) => {
      const pixels = await decodeFrame(frame, decoder);
      run.onProgress(++done / frames.length);
      return pixels;
    });
    let size = 0;
    for await (const piece of writeApng({ width, height, count: frames.length }, composed)) {
      size += piece.length;
      if (size > run.limits.max_file_bytes) throw ffmpegErrors.diskFull();
      await file.writeFile(piece);
    }
  } finally {
    await file.close();
  }
  return path;
}

async function decodeFrame({ still, width, height }: WebpFrame, run: DecoderRun): Promise<Uint8Array | null> {
  await writeFile(join(run.folder, STILL), still);
  await runDecoder("dwebp", ["-quiet", "-pam", STILL, "-o", PIXELS], run);
  const path = join(run.folder, PIXELS);
  const length = width * height * 4;
  const { size } = await stat(path);
  if (size < length || size > length + MAX_HEADER) return null;
  return (await readFile(path)).subarray(size - length);
}

interface DecoderRun {
  /** Working directory. */
  folder: string;
  installed: Installed;
  limits: Limits & { stall_seconds: number };
  signal: AbortSignal;
  /** Returns whether this many bytes fit into the machine's memory beside the other jobs. */
  fits(bytes: number): boolean;
  /** Receives the finished share of the decoding, 0 to 1. */
  onProgress(share: number): void;
}

/** Runs a decoder and passes each line of its output to `onLine`. Rejects with a {@link MediaError}. */
async function runDecoder(
  name: string,
  args: readonly string[],
  run: DecoderRun,
  onLine: (line: string) => void = () => {},
): Promise<void> {
  const { folder, installed, limits, signal, fits } = run;
  let watchdog: Watchdog | undefined;
  const end = await runProgram(name, {
    args,
    cwd: folder,
    installed,
    limits,
    signal,
    onProgress: onLine,
    onStart(ffmpeg) {
      const { stall_seconds } = limits;
      watchdog = watch({ ffmpeg, progress: () => 0, isWaiting: () => false, fits, folder, stall_seconds });
    },
  });
  watchdog?.stop();
  signal.throwIfAborted();
  const fault = watchdog?.fault();
  if (fault) throw fault;
  if (end.code === 0) return;
  const cause = end.log.join("\n");
  if (end.signal === "SIGXFSZ" || /No space left/.test(cause)) throw ffmpegErrors.diskFull({ log: cause });
  if (end.signal === "SIGKILL" || end.signal === "SIGTERM") {
    throw errors.decoderKilled({ cause });
  }
  // libheif also reports an impossible picture size as a failed allocation.
  if (/[Aa]lloc/.test(cause) && !/[Ss]ecurity limit/.test(cause)) {
    throw errors.decoderOutOfMemory({ cause });
  }
  throw errors.pictureUnreadable({ cause });
}
