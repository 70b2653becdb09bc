import { type FileHandle, open } from "node:fs/promises";
import { diskFull } from "../../src/ffmpeg/read-failure.ts";
import type { OutputFile } from "./put-output.ts";

/**
 * Throws `storage_full` unless all files of adaptive video are whole: when the disk is full, ffmpeg's writer of it leaves what it has, says
 * nothing and ends as if all were well (5.1).
 */
export async function checkSegments(files: readonly OutputFile[]): Promise<void> {
  for (const { path, name, size } of files) {
    if (size === 0) throw diskFull();
    if (name.endsWith(".m3u8")) continue;
    await using file = await open(path);
    if (!(await isWhole(file, size))) throw diskFull();
  }
}

// The boxes of the file (ISO/IEC 14496-12, 4.2) end where it does.
async function isWhole(file: FileHandle, size: number): Promise<boolean> {
  const header = new DataView(new ArrayBuffer(16));
  let at = 0;
  while (at < size) {
    await file.read(header, 0, 16, at);
    const short = header.getUint32(0);
    const length = short === 1 ? Number(header.getBigUint64(8)) : short;
    if (length < 8) return false;
    at += length;
  }
  return at === size;
}
