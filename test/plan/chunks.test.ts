import { expect, test } from "vitest";
import { CHUNK_SECONDS, type ChunkHints, type ChunkNeeds, createChunks } from "../../src/plan/chunks.ts";

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
  /** Edges of the stretches of video, or null for one chunk of everything. */
  edges: (number | null)[] | null;
}

const ROWS: Row[] = [
  { name: "short work is whole", needs: needs({ duration: 1.5 * CHUNK_SECONDS }), edges: null },
  { name: "work of unknown length is whole", needs: needs({ duration: null }), edges: null },
  { name: "copied pictures are whole", needs: needs({ encodes_video: false }), edges: null },
  { name: "long work is cut evenly", needs: needs(), edges: [0, 60, 120, 180, 240, null] },
  { name: "just too long to be whole", needs: needs({ duration: 91 }), edges: [0, 45.5, null] },
  { name: "a start and an end", needs: needs({ start: 10, end: 130, duration: 120 }), edges: [10, 70, 130] },
  {
    name: "a length of its own",
    needs: needs({ duration: 10 }),
    hints: { chunk_seconds: 3 },
    edges: [0, 3.333333, 6.666667, null],
  },
  {
    name: "keyframes nearby are taken",
    needs: needs(),
    hints: { keyframes: [0, 55, 64, 119.52, 175, 242.2, 290] },
    edges: [0, 64, 119.52, 175, 242.2, null],
  },
  {
    name: "keyframes too far away are not",
    needs: needs({ duration: 120 }),
    hints: { keyframes: [0, 5, 110] },
    edges: [0, 60, null],
  },
  {
    name: "one keyframe is not taken twice",
    needs: needs({ duration: 180 }),
    hints: { keyframes: [0, 90] },
    edges: [0, 90, null],
  },
  {
    name: "cuts fall on frames of a constant rate",
    needs: needs({ duration: 10, fps: 30_000 / 1001 }),
    hints: { chunk_seconds: 5 },
    edges: [0, 5.005, null],
  },
  {
    name: "frames are counted from the start",
    needs: needs({ start: 0.33, duration: 10, fps: 10 }),
    hints: { chunk_seconds: 5, keyframes: [5.55] },
    edges: [0.33, 5.53, null],
  },
  {
    name: "segments stay whole",
    needs: needs({ start: 1.5, duration: 40, segmented: true }),
    hints: { chunk_seconds: 13, keyframes: [14, 26] },
    edges: [1.5, 13.5, 25.5, null],
  },
  {
    name: "what is left at the end of segments is not too short",
    needs: needs({ duration: 60.1, segmented: true }),
    hints: { chunk_seconds: 20 },
    edges: [0, 18, 36, null],
  },
  {
    name: "a chunk is a segment at least",
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
  const stretches = edges.slice(0, -1).map((edge, index) => ({
    ...{ index, track: "video", start: edge, end: edges[index + 1] },
  }));
  const sound = { index: stretches.length, track: "audio", start, end };
  expect(chunks).toEqual([...stretches, sound]);
  expect(createChunks({ ...needs, has_audio: false }, hints)).toEqual(stretches);
});
