import { expect, test } from "vitest";
import { CHUNK_SECONDS, type ChunkHints, type ChunkNeeds, createChunks } from "../../src/media/timeline.ts";

const needs = (changes: Partial<ChunkNeeds> = {}): ChunkNeeds => ({
  start: 0,
  end: null,
  duration: 300,
  encodes_video: true,
  has_audio: true,
  fps: null,
  ...changes,
});

interface Row {
  name: string;
  needs: ChunkNeeds;
  hints?: ChunkHints;
  /** Edges of the video chunks; null for a single chunk of all tracks. */
  edges: (number | null)[] | null;
}

const ROWS: Row[] = [
  { name: "keeps short work in one chunk", needs: needs({ duration: 1.5 * CHUNK_SECONDS }), edges: null },
  { name: "keeps work of unknown length in one chunk", needs: needs({ duration: null }), edges: null },
  { name: "keeps copied video in one chunk", needs: needs({ encodes_video: false }), edges: null },
  { name: "cuts long work evenly", needs: needs(), edges: [0, 60, 120, 180, 240, null] },
  { name: "cuts work just above the limit in two", needs: needs({ duration: 91 }), edges: [0, 45.5, null] },
  {
    name: "cuts between the start and the end",
    needs: needs({ start: 10, end: 130, duration: 120 }),
    edges: [10, 70, 130],
  },
  {
    name: "uses the chunk length from the hints",
    needs: needs({ duration: 10 }),
    hints: { chunk_seconds: 3 },
    edges: [0, 3.333333, 6.666667, null],
  },
  {
    name: "cuts at nearby keyframes",
    needs: needs(),
    hints: { keyframes: [0, 55, 64, 119.52, 175, 242.2, 290] },
    edges: [0, 64, 119.52, 175, 242.2, null],
  },
  {
    name: "ignores keyframes too far away",
    needs: needs({ duration: 120 }),
    hints: { keyframes: [0, 5, 110] },
    edges: [0, 60, null],
  },
  {
    name: "does not cut at the same keyframe twice",
    needs: needs({ duration: 180 }),
    hints: { keyframes: [0, 90] },
    edges: [0, 90, null],
  },
  {
    name: "cuts on frame boundaries of a constant rate",
    needs: needs({ duration: 10, fps: 30_000 / 1001 }),
    hints: { chunk_seconds: 5 },
    edges: [0, 5.005, null],
  },
  {
    name: "counts frames from the start",
    needs: needs({ start: 0.33, duration: 10, fps: 10 }),
    hints: { chunk_seconds: 5, keyframes: [5.55] },
    edges: [0.33, 5.53, null],
  },
  {
    name: "keeps segments whole",
    needs: needs({ start: 1.5, duration: 40, segmented: true }),
    hints: { chunk_seconds: 13, keyframes: [14, 26] },
    edges: [1.5, 13.5, 25.5, null],
  },
  {
    name: "adds a remainder shorter than half a chunk to the last one",
    needs: needs({ duration: 60.1, segmented: true }),
    hints: { chunk_seconds: 20 },
    edges: [0, 18, 36, null],
  },
  {
    name: "makes chunks of at least one segment",
    needs: needs({ duration: 13, segmented: true }),
    hints: { chunk_seconds: 2 },
    edges: [0, 6, null],
  },
];

test.for(ROWS)("$name", ({ needs, hints, edges }) => {
  const { start, end } = needs;
  const chunks = createChunks(needs, hints);
  if (!edges) {
    expect(chunks).toEqual([{ index: 0, track: "all", start, end }]);
    return;
  }
  const videoChunks = edges.slice(0, -1).map((edge, index) => ({
    ...{ index, track: "video", start: edge, end: edges[index + 1] },
  }));
  const sound = { index: videoChunks.length, track: "audio", start, end };
  expect(chunks).toEqual([...videoChunks, sound]);
  expect(createChunks({ ...needs, has_audio: false }, hints)).toEqual(videoChunks);
});
