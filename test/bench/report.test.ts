import { expect, test } from "vitest";
import type { Result } from "../../bench/benchmark.ts";
import { formatJson, formatTable, short } from "../../bench/report.ts";

const RESULTS: Result[] = [
  {
    name: "probe",
    ours: 1_234_567,
    peer: 4_000_000,
    ratio: 0.308_641_75,
    unit: "bytes",
    runs: 5,
    notes: "2 requests",
  },
  { name: "memory-growth", ours: 12.345, peer: null, ratio: null, unit: "MB", runs: 5, notes: "" },
];

test("the table has one row per benchmark, and the notes below", () => {
  expect(formatTable(RESULTS)).toBe(
    [
      "name              ours     peer  ratio  unit",
      "probe          1234567  4000000  0.309  bytes",
      "memory-growth     12.3        –      –  MB",
      "",
      "probe: 2 requests",
    ].join("\n"),
  );
});

test("the table without results is only the heading", () => {
  expect(formatTable([])).toBe("name  ours  peer  ratio  unit");
});

test("the JSON lists the results in full precision", () => {
  const list: unknown = JSON.parse(formatJson(RESULTS));
  expect(list).toEqual(RESULTS);
  expect((list as object[]).map((each) => Object.keys(each))).toEqual(
    RESULTS.map(() => ["name", "ours", "peer", "ratio", "unit", "runs", "notes"]),
  );
});

test.each([
  { value: null, expected: "–" },
  { value: 0, expected: "0" },
  { value: 0.000_123_456, expected: "0.000123" },
  { value: 1, expected: "1" },
  { value: 9.999, expected: "10" },
  { value: 99.95, expected: "100" },
  { value: 100.4, expected: "100" },
  { value: 1_234_567.8, expected: "1234568" },
])("$value prints as $expected", ({ value, expected }) => {
  expect(short(value)).toBe(expected);
});
