import { type FileHandle, open, readFile } from "node:fs/promises";
import { diskFull } from "../../src/media/ffmpeg/run-log.ts";
import { readSegment } from "../../src/mux/contents.ts";
import { listOutput, type OutputFile } from "./put-output.ts";

/**
 * Throws `storage_full` unless all files of adaptive video are complete: when the disk is full, ffmpeg 5.1 leaves truncated segments and
 * still exits with 0.
 */
export async function checkSegments(files: readonly OutputFile[]): Promise<void> {
  for (const file of files) {
    if (!(file.name.endsWith(".m3u8") ? file.size > 0 : await isComplete(file))) throw diskFull();
  }
}

/** Returns each segment's name with its facts. */
export async function readSegments(
  files: readonly OutputFile[],
): Promise<(readonly [string, ReturnType<typeof readSegment>])[]> {
  const facts: [string, ReturnType<typeof readSegment>][] = [];
  // One at a time, because the segments of a long sound exceed the memory of its job.
  for (const { name, path } of files)
    if (name.endsWith(".m4s")) facts.push([name, readSegment(await readFile(path))]);
  return facts;
}

/** Returns whether the boxes of an MP4 file or segment (ISO/IEC 14496-12, 4.2) end exactly where the file does. */
export async function isComplete({ path, size }: OutputFile): Promise<boolean> {
  await using file = await open(path);
  return size > 0 && (await boxesEnd(file, size)) === size;
}

// The end of the last box by its header; 0 when a header is malformed.
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
 * Lists the segments that a running ffmpeg has finished: complete ones with a successor. Other files, and the last segment, are only
 * complete after it has ended.
 */
export async function finishedSegments(
  folder: string,
  isKnown: (name: string) => boolean,
): Promise<OutputFile[]> {
  const files = await listOutput(folder, null);
  const names = new Set(files.map(({ name }) => name));
  const finished: OutputFile[] = [];
  for (const file of files) {
    const [, stem, number] = SEGMENT.exec(file.name) ?? [];
    if (number === undefined || isKnown(file.name)) continue;
    const next = `${stem}${String(Number(number) + 1).padStart(number.length, "0")}.m4s`;
    if (names.has(next) && (await isComplete(file))) finished.push(file);
  }
  return finished;
}
