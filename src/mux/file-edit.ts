import type { ByteReader } from "../runs/ports.ts";
import { MIB } from "../util/bytes.ts";
import { type Bytes, createGatherer } from "./mp4-boxes.ts";
import { createExtentReader } from "./mp4-file.ts";

/** Bytes that replace a range of a file; an empty range inserts them. */
export interface Edit {
  start: number;
  end: number;
  bytes: Bytes;
}

const BLOCK = 2 * MIB;

export interface EditOptions {
  signal: AbortSignal;
  /** Called now and then while a large file takes minutes. */
  onWait(): void;
}

/** Streams a file with ordered, disjoint edits applied, in constant memory. */
export function editFile(
  reader: ByteReader,
  edits: readonly Edit[],
  { signal, onWait }: EditOptions,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const run = async () => {
    const out = createGatherer((bytes) => {
      onWait();
      return writer.write(bytes);
    });
    const starts = [0, ...edits.map(({ end }) => end)];
    const unchanged = starts.map((start, index) => ({
      input: reader,
      start,
      end: edits[index]?.start ?? reader.size,
    }));
    const source = createExtentReader(
      unchanged.filter(({ start, end }) => end > start),
      BLOCK,
      signal,
    );
    for (const [index, { start, end }] of unchanged.entries()) {
      await source.copy(end - start, out);
      for (const piece of edits[index]?.bytes ?? []) await out.add(piece);
    }
    await out.flush();
  };
  run()
    .then(
      () => writer.close(),
      (thrown: unknown) => writer.abort(thrown),
    )
    .catch(() => {});
  return readable;
}
