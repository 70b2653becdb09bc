import { closeSync, openSync, readSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { makeClip, runFfmpeg } from "../test/fixtures/make-clip.ts";
import type { VirtualFile } from "../test/fixtures/virtual-file.ts";
import { makeScratch } from "./scratch.ts";

/** A long film on disk, deleted with the benchmark. */
export interface Film {
  path: string;
  seconds: number;
  file: VirtualFile;
}

/** The properties of a film. */
interface FilmShape {
  bytes: number;
  /** Bits per second of its pictures. */
  bitrate: number;
  /** Size in pixels, such as `1280x720`. */
  size: string;
}

const LOOP_SECONDS = 10;
const RATE = 25;
const SOUND_BITRATE = 128_000;
const PIECE = 256 * 1024;

/** Creates an MP4 of about this size, its index at the end, by repeating ten seconds without encoding them again. */
export async function makeFilm(
  { bytes, bitrate, size }: FilmShape,
  ends: AsyncDisposableStack,
): Promise<Film> {
  const pictures = `-f lavfi -i testsrc2=size=${size}:rate=${RATE}:duration=${LOOP_SECONDS},noise=alls=8:allf=t`;
  const rate = `-b:v ${bitrate} -minrate ${bitrate} -maxrate ${bitrate} -bufsize ${bitrate}`;
  const coding = `-c:v libx264 -preset ultrafast ${rate} -x264-params nal-hrd=cbr -pix_fmt yuv420p -g 125`;
  const loop = await makeClip("mp4", `${pictures} ${coding}`.split(" "));
  const sound = `-f lavfi -i sine=frequency=440:sample_rate=48000:duration=${LOOP_SECONDS} -c:a aac -ac 2`;
  const tone = await makeClip("m4a", [...sound.split(" "), "-b:a", String(SOUND_BITRATE)]);
  const seconds = Math.round((bytes * 8) / (bitrate + SOUND_BITRATE));
  const path = join(await makeScratch(ends), "film.mp4");
  const repeated = [loop, tone].flatMap((each) => ["-stream_loop", "-1", "-i", each]);
  await runFfmpeg([...repeated, "-map", "0:v", "-map", "1:a", "-c", "copy", "-t", String(seconds), path]);
  return { path, seconds, file: await openFile(path, ends) };
}

async function openFile(path: string, ends: AsyncDisposableStack): Promise<VirtualFile> {
  const { size } = await stat(path);
  const handle = openSync(path, "r");
  ends.defer(() => closeSync(handle));
  function* read(start: number, end: number) {
    for (let at = start; at < end; ) {
      const piece = new Uint8Array(Math.min(PIECE, end - at));
      const count = readSync(handle, piece, 0, piece.length, at);
      yield piece.subarray(0, count);
      at += count;
    }
  }
  return { size, read };
}
