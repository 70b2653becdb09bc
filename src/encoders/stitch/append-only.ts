import type { StreamTargetChunk } from "mediabunny";

interface Patch {
  position: number;
  data: Uint8Array;
}

/** What a first pass learns, so that a second one can write a file from the front to the end without going back. */
export interface Rehearsal {
  /** Corrections of bytes that were written before, in the order in which they were made. */
  readonly patches: Patch[];
  /** Bytes of the file. */
  size: number;
}

/** Takes a muxer's writes, keeping only those that go back; the rehearsal is complete when the stream is closed. */
export function createRehearsal(): { rehearsal: Rehearsal; writable: WritableStream<StreamTargetChunk> } {
  const rehearsal: Rehearsal = { patches: [], size: 0 };
  const writable = new WritableStream<StreamTargetChunk>({
    write({ data, position }) {
      const behind = Math.min(data.length, Math.max(0, rehearsal.size - position));
      if (behind > 0) rehearsal.patches.push({ position, data: data.slice(0, behind) });
      rehearsal.size = Math.max(rehearsal.size, position + data.length);
    },
  });
  return { rehearsal, writable };
}

/** Takes the same writes again and hands their bytes on in order, each with its corrections already made. */
export function createReplay(
  { patches }: Rehearsal,
  write: (bytes: Uint8Array) => Promise<void>,
): WritableStream<StreamTargetChunk> {
  const order = patches.map((patch, made) => ({ ...patch, made, end: patch.position + patch.data.length }));
  order.sort((a, b) => a.position - b.position);
  let written = 0;
  let first = 0;

  function correct(bytes: Uint8Array): void {
    const end = written + bytes.length;
    while ((order[first]?.end ?? Number.POSITIVE_INFINITY) <= written) first++;
    let last = first;
    while ((order[last]?.position ?? Number.POSITIVE_INFINITY) < end) last++;
    for (const patch of order.slice(first, last).sort((a, b) => a.made - b.made)) {
      const from = Math.max(patch.position, written);
      const to = Math.min(patch.end, end);
      if (to > from) {
        bytes.set(patch.data.subarray(from - patch.position, to - patch.position), from - written);
      }
    }
  }

  return new WritableStream<StreamTargetChunk>({
    async write({ data, position }) {
      const fresh = data.slice(Math.min(data.length, Math.max(0, written - position)));
      if (fresh.length === 0) return;
      correct(fresh);
      written += fresh.length;
      await write(fresh);
    },
  });
}
