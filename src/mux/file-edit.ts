import type { ByteReader } from "../runs/ports.ts";
import { MIB } from "../util/bytes.ts";
import { type Bytes, createGatherer } from "./mp4-boxes.ts";
import { createExtentReader } from "./mp4-file.ts";

/** New bytes in place of a range of a file's; an empty range inserts them. */
export interface Edit {
  start: number;
  end: number;
  bytes: Bytes;
}

const BLOCK = 2 * MIB;

export interface Editing {
  signal: AbortSignal;
  /** Called from time to time, because a large file takes minutes. */
  onWait(): void;
}

/** Streams a file with edits, in order and apart from each other, in constant memory. */
export function editFile(
  reader: ByteReader,
  edits: readonly Edit[],
  { signal, onWait }: Editing,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const run = async () => {
    const out = createGatherer((bytes) => {
      onWait();
      return writer.write(bytes);
    });
    const starts = [0, ...edits.map(({ end }) => end)];
    const kept = starts.map((start, index) => ({
      ...{ input: reader, start, end: edits[index]?.start ?? reader.size },
    }));
    const copy = createExtentReader(
      kept.filter(({ start, end }) => end > start),
      BLOCK,
      signal,
    );
    for (const [index, { start, end }] of kept.entries()) {
      await copy.copy(end - start, out);
      for (const piece of edits[index]?.bytes ?? []) await out.add(piece);
    }
    await out.flush();
  };
  run()
    .then(
      () => writer.close(),
      (thrown: unknown) => writer.abort(thrown),
    )
    // The reader of the stream already has the error, or is gone.
    .catch(() => {});
  return readable;
}
