import { open, stat } from "node:fs/promises";
import { MediaError } from "../../src/media/errors.ts";
import { ffprobeArgs, parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import type { Source } from "../../src/media/source.ts";
import { probeMedia, type RunFfprobe } from "../../src/probe/probe.ts";
import type { ByteReader } from "../../src/runs/ports.ts";
import { runFfprobeWith } from "../fixtures/make-clip.ts";

/** Native ffprobe in place of the light encoder's: same arguments, same report, same error for files that are not media. */
export function nativeFfprobe(path: string): RunFfprobe {
  return () =>
    runFfprobeWith(ffprobeArgs(path)).catch(() => {
      throw new MediaError("input_unsupported", "The input is not media that can be read here.");
    });
}

/** Probes with native ffprobe and the product's arguments. */
export async function probe(path: string): Promise<Source> {
  return parseFfprobe(await runFfprobeWith(ffprobeArgs(path)), {
    url: "file:clip",
    filesize: (await stat(path)).size,
  });
}

/** A reader of a file on disk that counts its reads and bytes. */
export async function diskReader(path: string): Promise<ByteReader & { bytes(): number; reads(): number }> {
  await using file = await open(path);
  const { size } = await file.stat();
  let [bytes, reads] = [0, 0];
  return {
    size,
    bytes: () => bytes,
    reads: () => reads,
    async read({ start, end }) {
      await using again = await open(path);
      const part = new Uint8Array(Math.max(0, Math.min(end, size) - start));
      await again.read(part, 0, part.length, start);
      bytes += part.length;
      reads++;
      return part;
    },
  };
}

export function bytesReader(bytes: Uint8Array): ByteReader {
  return { size: bytes.length, read: async ({ start, end }) => bytes.slice(start, end) };
}

/** Probes a file on disk; `fell_back` is whether it took native ffprobe. */
export async function probeFile(path: string): Promise<{ source: Source; fell_back: boolean }> {
  let fell_back = false;
  const ffprobe: RunFfprobe = (reader, signal) => {
    fell_back = true;
    return nativeFfprobe(path)(reader, signal);
  };
  const origin = { url: "https://example.com/file" };
  const source = await probeMedia(await diskReader(path), origin, ffprobe, AbortSignal.timeout(120_000));
  return { source, fell_back };
}
