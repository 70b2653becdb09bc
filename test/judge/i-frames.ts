import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readFacts } from "./facts.ts";
import { runNative } from "./native.ts";

/**
 * Reads an I-frame playlist (RFC 8216, 4.3.3.6) independently of the product: returns the times of the pictures in each of its
 * ranges, as native ffmpeg decodes it alone, and its durations. `read` returns the bytes of a URL, or a range of them.
 */
export async function readIFrames(
  text: string,
  url: string,
  read: (url: string, range?: { start: number; end: number }) => Promise<Uint8Array>,
): Promise<{ times: (readonly number[])[]; seconds: number[] }> {
  const lines = text.split("\n");
  if (!lines.includes("#EXT-X-I-FRAMES-ONLY")) throw new Error("not an I-frame playlist");
  const init = await read(new URL(/#EXT-X-MAP:URI="([^"]+)"/.exec(text)?.[1] ?? "", url).href);
  const folder = await mkdtemp(join(tmpdir(), "framewright-i-frames-"));
  const times: (readonly number[])[] = [];
  try {
    for (const [index, line] of lines.entries()) {
      const [, size, start] = /^#EXT-X-BYTERANGE:(\d+)@(\d+)$/.exec(line) ?? [];
      if (size === undefined) continue;
      const range = { start: Number(start), end: Number(start) + Number(size) };
      const bytes = await read(new URL(lines[index + 1] ?? "", url).href, range);
      if (bytes.length !== Number(size)) throw new Error(`${line}: ${bytes.length} bytes`);
      const path = join(folder, `${index}.mp4`);
      await writeFile(path, Buffer.concat([init, bytes]));
      // Decoded, as the segment's index lists pictures that the range lacks.
      const args = [
        "-copyts",
        "-i",
        path,
        "-c:v",
        "ffv1",
        "-enc_time_base",
        "1:90000",
        "-fps_mode",
        "passthrough",
      ];
      await runNative(["-y", ...args, `${path}.mkv`]);
      times.push((await readFacts(`${path}.mkv`)).picture?.times ?? []);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  const seconds = [...text.matchAll(/^#EXTINF:([\d.]+)/gm)].map(([, each]) => Number(each));
  return { times, seconds };
}
