import { open, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { composeFrames, readAnimation, type WebpFrame } from "../../src/encoders/images/animation.ts";
import { writeApng } from "../../src/encoders/images/png.ts";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { diskFull } from "../../src/media/ffmpeg/run-log.ts";
import { MIB } from "../../src/util/bytes.ts";
import { errors } from "./errors.ts";
import { readInput } from "./read-input.ts";
import { type DecoderRun, runDecoder } from "./run-decoder.ts";

const MAX_BYTES = 256 * MIB;
// The canvas, the largest frame, and a picture in compression.
const CANVASES = 5;
// Bytes of a PAM header.
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
      if (size > run.limits.max_file_bytes) throw diskFull();
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
  // A still may be larger than its frame declares.
  if (size < length || size > length + MAX_HEADER) return null;
  return (await readFile(path)).subarray(size - length);
}
