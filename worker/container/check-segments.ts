import { type FileHandle, open, readFile } from "node:fs/promises";
import { diskFull } from "../../src/ffmpeg/read-failure.ts";
import { readSegment } from "../../src/mux/contents.ts";
import { listOutput, type OutputFile } from "./put-output.ts";

/**
 * Throws `storage_full` unless all files of adaptive video are whole: when the disk is full, ffmpeg's writer of it leaves what it has, says
 * nothing and ends as if all were well (5.1).
 */
export async function checkSegments(files: readonly OutputFile[]): Promise<void> {
  for (const file of files) {
    if (!(file.name.endsWith(".m3u8") ? file.size > 0 : await isWhole(file))) throw diskFull();
  }
}

/** Reads the facts of each segment; returns pairs of its name and them. */
export async function readSegments(
  files: readonly OutputFile[],
): Promise<(readonly [string, ReturnType<typeof readSegment>])[]> {
  const read: [string, ReturnType<typeof readSegment>][] = [];
  // One after the other: all of a long sound together would not fit into what the job may take.
  for (const { name, path } of files)
    if (name.endsWith(".m4s")) read.push([name, readSegment(await readFile(path))]);
  return read;
}

/** True when the boxes of an MP4 file or segment (ISO/IEC 14496-12, 4.2) are all there and end where it does. */
export async function isWhole({ path, size }: OutputFile): Promise<boolean> {
  await using file = await open(path);
  return size > 0 && (await boxesEnd(file, size)) === size;
}

// Where the last box ends, as its header says; 0 when one cannot be read.
async function boxesEnd(file: FileHandle, size: number): Promise<number> {
  const header = new DataView(new ArrayBuffer(16));
  let at = 0;
  while (at < size) {
    await file.read(header, 0, 16, at);
    const short = header.getUint32(0);
    const length = short === 1 ? Number(header.getBigUint64(8)) : short;
    if (length < 8) return 0;
    at += length;
  }
  return at;
}

const SEGMENT = /^(.+\/seg_)(\d+)\.m4s$/;

/**
 * Lists the segments that a running ffmpeg has finished: those whose successor exists and that are whole, which they are not after the
 * disk was full. Other files and the last segments are whole only after it has ended.
 */
export async function wholeSegments(
  folder: string,
  isKnown: (name: string) => boolean,
): Promise<OutputFile[]> {
  const files = await listOutput(folder, null);
  const names = new Set(files.map(({ name }) => name));
  const done: OutputFile[] = [];
  for (const file of files) {
    const [, stem, number] = SEGMENT.exec(file.name) ?? [];
    if (number === undefined || isKnown(file.name)) continue;
    const next = `${stem}${String(Number(number) + 1).padStart(number.length, "0")}.m4s`;
    if (names.has(next) && (await isWhole(file))) done.push(file);
  }
  return done;
}
