import { readFile, writeFile } from "node:fs/promises";
import { keepClip } from "../fixtures/make-clip.ts";

// ISO/IEC 13818-1: packets of 188 bytes. The fourth byte flags an adaptation field, which starts with its length.
const PACKET = 188;
const HAS_ADAPTATION = 0x20;
const RANDOM_ACCESS = 0x40;

/** Clears every random_access_indicator of an MPEG transport stream; returns the path of the copy. */
export function bareTs(path: string): Promise<string> {
  return keepClip("ts", `bare ${path}`, async (copy) => {
    const bytes = await readFile(path);
    for (let at = 0; at < bytes.length; at += PACKET) {
      const [head = 0, length = 0, flags = 0] = bytes.subarray(at + 3, at + 6);
      if (head & HAS_ADAPTATION && length > 0) bytes[at + 5] = flags & ~RANDOM_ACCESS;
    }
    await writeFile(copy, bytes);
  });
}
