import {
  ALL_FORMATS,
  BlobSource,
  BufferTarget,
  Conversion,
  Input,
  Mp4OutputFormat,
  Output,
} from "mediabunny";
import { chosenFile } from "./chosen.ts";

/** The target of the pictures; sound is copied. */
export interface Converting {
  width: number;
  height: number;
  bitrate: number;
}

/** Converts the selected file to H.264 in MP4 with mediabunny's own Conversion, and saves it for measurement. */
export async function convert(
  { width, height, bitrate }: Converting,
  name: string,
): Promise<{ seconds: number; size: number }> {
  const started = performance.now();
  const input = new Input({ source: new BlobSource(chosenFile()), formats: ALL_FORMATS });
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: "in-memory" }), target });
  const video = { codec: "avc", width, height, fit: "fill", bitrate } as const;
  const conversion = await Conversion.init({ input, output, video });
  if (conversion.discardedTracks.length > 0) throw new Error("mediabunny leaves a track out.");
  await conversion.execute();
  const seconds = (performance.now() - started) / 1000;
  const blob = new Blob([target.buffer ?? new ArrayBuffer(0)]);
  await globalThis.bench.save(blob, name);
  return { seconds, size: blob.size };
}
