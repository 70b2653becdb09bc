import type { ByteReader } from "../../core/ports.ts";
import type { Mp4Track } from "./mp4-part.ts";
import type { Mp4Samples } from "./mp4-samples.ts";
import { createRuns, createTable, type Runs, type Table } from "./mp4-tables.ts";

/** Seconds of a track stored contiguously. */
const CHUNK_SECONDS = 1;

/** A range of a file to copy. */
export interface Extent {
  input: ByteReader;
  start: number;
  end: number;
}

/** Samples of a track stored contiguously. */
export interface Mp4Chunk {
  /** Decoding time at which it begins, in seconds. */
  at: number;
  samples: number;
  bytes: number;
}

/** A track under construction: its tables, and where its bytes come from. */
export interface Mp4Build {
  /** The part whose description applies to all. */
  first: Mp4Track;
  stts: Runs;
  ctts: Runs;
  stsz: Table;
  /** Numbers of the sync samples; meaningful when `some` is true. */
  stss: Table;
  some: boolean;
  chunks: Mp4Chunk[];
  extents: Extent[];
  /** Tick at which the first sample is shown, and ticks from there to the end of the last. */
  start: number;
  duration: number;
  bytes: number;
  /** Adds the samples of a part with their decoding and presentation ticks, in decoding order. */
  add(part: Mp4Track, samples: Mp4Samples, decoded: Float64Array, shown: Float64Array): void;
  /** Completes the track; the last sample lasts `last` ticks. */
  finish(last: number): void;
}

/** Starts a track that takes its description from its first part. */
export function createBuild(first: Mp4Track): Mp4Build {
  const { ticks } = first;
  let before: number | null = null;
  let chunk: Mp4Chunk | null = null;
  const build: Mp4Build = {
    ...{ first, stts: createRuns(), ctts: createRuns(), stsz: createTable(), stss: createTable() },
    ...{ some: false, chunks: [], extents: [], start: 0, duration: 0, bytes: 0 },
    add({ input }, { sizes, sync, extents }, decoded, shown) {
      for (let index = 0; index < sizes.length; index++) {
        const [size = 0, at = 0] = [sizes[index], decoded[index]];
        if (before === null) build.start = at;
        else pass(at - before);
        before = at;
        const seconds = (at - build.start) / ticks;
        if (!chunk || seconds - chunk.at >= CHUNK_SECONDS) {
          chunk = { at: seconds, samples: 0, bytes: 0 };
          build.chunks.push(chunk);
        }
        chunk.samples++;
        chunk.bytes += size;
        build.bytes += size;
        build.ctts.push((shown[index] ?? 0) - at);
        build.stsz.push(size);
        if (sync?.[index] !== 0) build.stss.push(build.stsz.length);
      }
      build.some ||= sync !== null;
      for (const [start, end] of extents) build.extents.push({ input, start, end });
    },
    finish: (last) => pass(last),
  };
  function pass(delta: number) {
    build.stts.push(delta);
    build.duration += delta;
  }
  return build;
}
