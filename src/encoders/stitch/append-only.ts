import type { StreamTargetChunk } from "mediabunny";

interface Patch {
  position: number;
  data: Uint8Array;
}

/** What a first pass records so that the second can write the file without seeking back. */
export interface Rehearsal {
  /** Corrections of bytes already written, in order. */
  readonly patches: Patch[];
  size: number;
}

/** Records a muxer's writes, keeping only those that seek back; complete when the stream closes. */
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

/** Receives the same writes again and passes their bytes on in order, already corrected. */
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
