import { open, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { composeFrames, readAnimation, type WebpFrame } from "../../src/encoders/images/animation.ts";
import { writeApng } from "../../src/encoders/images/png.ts";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { diskFull } from "../../src/ffmpeg/read-failure.ts";
import { MIB } from "../../src/util/bytes.ts";
import { errors } from "./errors.ts";
import { readInput } from "./read-input.ts";
import { type DecoderRun, runDecoder } from "./run-decoder.ts";

const MOST_BYTES = 256 * MIB;
// The canvas, the largest frame, and a picture on its way through the compression.
const CANVASES = 5;
// The header of a PAM.
const MOST_HEAD = 1024;
const [STILL, PIXELS] = ["frame.webp", "frame.pam"] as const;

/** Decodes an animated WebP into an APNG in the run's folder, each frame by libwebp's program for stills; returns its path. */
export async function decodeWebp(input: NativeJob["input"], run: DecoderRun): Promise<string> {
  if (input.size > MOST_BYTES) {
    throw errors.largeWebp({ max_bytes: MOST_BYTES });
  }
  const animation = readAnimation(await readInput(input, { start: 0, end: input.size }, run.signal));
  const { width, height, frames } = animation;
  // The canvas is in this process, which no watchdog limits, and a few bytes can ask for one of gigabytes.
  const held = 2 * input.size + CANVASES * 4 * width * height;
  const own = { ...run, fits: (bytes: number) => run.fits(bytes + held) };
  if (!own.fits(0)) throw errors.memoryExceeded();
  const path = join(run.folder, "picture.png");
  const file = await open(path, "w");
  try {
    let done = 0;
    const drawn = composeFrames(animation, async (frame) => {
      const pixels = await decodeFrame(frame, own);
      run.onProgress(++done / frames.length);
      return pixels;
    });
    let size = 0;
    for await (const piece of writeApng({ width, height, count: frames.length }, drawn)) {
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
  if (size < length || size > length + MOST_HEAD) return null;
  return (await readFile(path)).subarray(size - length);
}
