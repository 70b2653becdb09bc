import { expect, test } from "vitest";
import type { Benchmark, Measurement } from "../../bench/benchmark.ts";
import { median, percentile, runBenchmark, summarize } from "../../bench/measure.ts";

test.each([
  { values: [3], expected: 3 },
  { values: [9, 1, 5], expected: 5 },
  { values: [4, 1, 2, 3], expected: 2.5 },
  { values: [10, 9, 100], expected: 10 },
  { values: [], expected: Number.NaN },
])("the median of $values is $expected", ({ values, expected }) => {
  expect(median(values)).toBe(expected);
});

test.each([
  { percent: 50, expected: 50 },
  { percent: 99, expected: 99 },
  { percent: 100, expected: 100 },
  { percent: 1, expected: 1 },
  { percent: 0, expected: 1 },
])("percentile $percent of 1 to 100 is $expected", ({ percent, expected }) => {
  const values = Array.from({ length: 100 }, (_, n) => 100 - n);
  expect(percentile(values, percent)).toBe(expected);
});

test("a percentile of few values is one of them", () => {
  expect(percentile([7, 3, 5], 50)).toBe(5);
  expect(percentile([7, 3, 5], 99)).toBe(7);
});

const samples = (...values: number[]): Measurement[] => values.map((value) => ({ value }));

test("the ratio is the median of the pairwise ratios", () => {
  const result = summarize({ name: "a", unit: "ms" }, samples(10, 20, 60), samples(10, 40, 20), "why");
  expect(result).toEqual({ name: "a", ours: 20, peer: 20, ratio: 1, unit: "ms", runs: 3, notes: "why" });
  expect(summarize({ name: "a", unit: "ms" }, samples(1, 8, 3), samples(2, 2, 4), "").ratio).toBe(0.75);
});

test("peer and ratio are null without a peer", () => {
  const result = summarize({ name: "b", unit: "MB" }, samples(3, 1, 2), [], "");
  expect(result).toEqual({ name: "b", ours: 2, peer: null, ratio: null, unit: "MB", runs: 3, notes: "" });
});

function scripted(ours: number[], peer: number[] | null, calls: string[]): Benchmark {
  const next = (side: string, values: number[]) => async () => {
    calls.push(side);
    const value = values.shift();
    if (value === undefined) throw new Error("no more");
    return { value };
  };
  return {
    name: "scripted",
    unit: "s",
    open: async (ends) => {
      ends.defer(() => void calls.push("end"));
      return {
        ours: next("ours", ours),
        peer: peer && next("peer", peer),
        notes: (own, theirs) => `${own.length} and ${theirs.length}`,
      };
    },
  };
}

test("alternates peer and ours, and ignores the warm-up", async () => {
  const calls: string[] = [];
  const result = await runBenchmark(scripted([900, 2, 4], [1, 1, 1], calls), 2);
  expect(calls).toEqual(["peer", "ours", "peer", "ours", "peer", "ours", "end"]);
  expect(result).toMatchObject({ ours: 3, peer: 1, ratio: 3, runs: 2, notes: "2 and 2" });
});

test("runs ours alone without a peer, and cleans up when it fails", async () => {
  const calls: string[] = [];
  await expect(runBenchmark(scripted([1, 2], null, calls), 2)).rejects.toThrow("no more");
  expect(calls).toEqual(["ours", "ours", "ours", "end"]);
});
