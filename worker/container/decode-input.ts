import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { decodedPlan, decodedSource, needsDecoder } from "../../src/media/decoded-pictures.ts";
import { MIB } from "../../src/util/bytes.ts";
import { decodeWebp } from "./decode-webp.ts";
import { errors } from "./errors.ts";
import { readInput } from "./read-input.ts";
import { type DecoderRun, runDecoder } from "./run-decoder.ts";

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
  const decoded = { ...job, plan: decodedPlan(plan, source), source: decodedSource(source, "png") };
  const { heif, dwebp } = run.installed;
  if (source.format === "webp") {
    if (!dwebp) throw errors.decoderMissing({ format: "animated WebP", package_name: "webp" });
    return { job: decoded, path: await decodeWebp(input, run) };
  }
  // ffmpeg reads a plain AVIF too.
  if (heif === null && source.format === "avif") return null;
  if (heif === null) throw errors.decoderMissing({ format: "HEIC", package_name: "libheif-examples" });
  await store(input, join(run.folder, STORED), run.signal);
  await runDecoder(heif, [STORED, DECODED], run);
  return { job: decoded, path: join(run.folder, await primaryOf(heif, run)) };
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
