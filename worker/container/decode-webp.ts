import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MediaError } from "../../src/core/errors.ts";
import { writeApng } from "../../src/encoders/images/animated/apng.ts";
import { composeFrames } from "../../src/encoders/images/animated/compose.ts";
import { readAnimation, type WebpFrame } from "../../src/encoders/images/animated/webp.ts";
import type { NativeJob } from "../../src/encoders/native/native-wire.ts";
import { MIB } from "../../src/util/bytes.ts";
import { readInput } from "./read-input.ts";
import { type DecoderRun, runDecoder } from "./run-decoder.ts";

// The file is held in memory, beside two canvases.
const MOST_BYTES = 256 * MIB;
const [STILL, PIXELS] = ["frame.webp", "frame.pam"] as const;

/** Decodes an animated WebP into an APNG in the run's folder, each frame by libwebp's program for stills; returns its path. */
export async function decodeWebp(input: NativeJob["input"], run: DecoderRun): Promise<string> {
  if (input.size > MOST_BYTES) {
    throw new MediaError("input_too_large", `An animated WebP may have ${MOST_BYTES / MIB} MB here.`);
  }
  const animation = readAnimation(await readInput(input, { start: 0, end: input.size }, run.signal));
  const { width, height, frames } = animation;
  const path = join(run.folder, "picture.png");
  const file = await open(path, "w");
  try {
    const drawn = composeFrames(animation, (frame) => decodeFrame(frame, run));
    for await (const piece of writeApng({ width, height, count: frames.length }, drawn))
      await file.write(piece);
  } finally {
    await file.close();
  }
  return path;
}

async function decodeFrame({ still, width, height }: WebpFrame, run: DecoderRun): Promise<Uint8Array> {
  await writeFile(join(run.folder, STILL), still);
  await runDecoder("dwebp", ["-quiet", "-pam", STILL, "-o", PIXELS], run);
  const pam = await readFile(join(run.folder, PIXELS));
  return pam.subarray(pam.length - width * height * 4);
}
