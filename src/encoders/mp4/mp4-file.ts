import { MIB } from "../../util/bytes.ts";
import { createGatherer } from "../stitch/stitch-gather.ts";
import { type Bytes, lengthOf, letters, u32, u64 } from "./mp4-boxes.ts";
import { createExtentReader } from "./mp4-copy.ts";
import { createIndex, writeType } from "./mp4-index.ts";
import type { Mp4Build, Mp4Chunk } from "./mp4-track.ts";

/** Writes a planned file from front to end. */
export type Mp4Copy = (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>;

// Bytes read at a time; sound has far fewer in all.
const BLOCKS = { vide: 4 * MIB, soun: MIB } as const;
// Larger offsets and sizes take 64 bits.
const MOST = 0xffffffff;

/** Plans an MP4 or MOV of finished tracks, pictures first: the index, then the chunks in order of time. */
export function planFile(
  tracks: readonly [Mp4Build, ...Mp4Build[]],
  user_data: Bytes,
  signal: AbortSignal | undefined,
): Mp4Copy {
  const order = interleave(tracks);
  const front = writeFront(tracks, order, user_data);
  return async (write) => {
    const out = createGatherer(write);
    for (const piece of front) await out.add(piece);
    const readers = tracks.map(({ extents, first }) =>
      createExtentReader(extents, BLOCKS[first.kind], signal),
    );
    for (const { track, chunk } of order) await readers[track]?.copy(chunk.bytes, out);
    await out.flush();
  };
}

interface Placed {
  track: number;
  chunk: Mp4Chunk;
}

function interleave(tracks: readonly Mp4Build[]): Placed[] {
  const all = tracks.flatMap(({ chunks, start, first }, track) => {
    const late = Math.max(0, start) / first.ticks;
    return chunks.map((chunk) => ({ track, chunk, at: chunk.at + late }));
  });
  return all.sort((a, b) => a.at - b.at);
}

// Everything before the first chunk.
function writeFront(
  tracks: readonly [Mp4Build, ...Mp4Build[]],
  order: readonly Placed[],
  user_data: Bytes,
): Bytes {
  const [{ first }] = tracks;
  const type = writeType(first.quicktime, String.fromCharCode(...first.entry.subarray(4, 8)));
  const index = createIndex(tracks, user_data);
  const bytes = tracks.reduce((sum, track) => sum + track.bytes, 0);
  const places = new Map<Mp4Chunk, number>();
  const placeOf = (chunk: Mp4Chunk) => places.get(chunk) ?? 0;
  const size = (wide: boolean) => lengthOf(type) + lengthOf(index.write(placeOf, wide)) + (wide ? 16 : 8);
  const wide = size(true) + bytes > MOST;
  let at = size(wide);
  for (const { chunk } of order) {
    places.set(chunk, at);
    at += chunk.bytes;
  }
  const mdat = wide ? [u32(1), letters("mdat"), u64(bytes + 16)] : [u32(bytes + 8), letters("mdat")];
  return [...type, ...index.write(placeOf, wide), ...mdat];
}
