import { expect, test } from "vitest";
import { PRESET_BOUNDS, parsePresets } from "./parse-presets.ts";

const good = { id: "a", name: "Small", kind: "image", options: { width: "50%" }, target_size: null };
const parsed = { ...good, purpose: "" };

test("parses stored presets", () => {
  const sized = { ...good, id: "b", kind: "video", options: {}, target_size: 2e6 };
  expect(parsePresets(JSON.stringify([good, sized]))).toEqual([parsed, { ...sized, purpose: "" }]);
  expect(parsePresets(null)).toEqual([]);
});

test.for([
  "",
  "{",
  "null",
  "3",
  '{"length":1}',
  "[null, 3, [], {}]",
  JSON.stringify([{ ...good, id: 3 }]),
  JSON.stringify([{ ...good, id: "x".repeat(101) }]),
  JSON.stringify([{ ...good, name: " " }]),
  JSON.stringify([{ ...good, name: "x".repeat(PRESET_BOUNDS.name + 1) }]),
  JSON.stringify([{ ...good, kind: "upload" }]),
  JSON.stringify([{ ...good, kind: "toString" }]),
  JSON.stringify([{ ...good, options: { codec: "h264" } }]),
  JSON.stringify([{ ...good, options: { width: -1 } }]),
  JSON.stringify([{ ...good, options: [] }]),
  JSON.stringify([{ ...good, target_size: "20" }]),
  JSON.stringify([{ ...good, target_size: -1 }]),
])("drops invalid presets: %s", (text) => {
  expect(parsePresets(text)).toEqual([]);
});

test("keeps the valid presets among others, up to the maximum", () => {
  expect(parsePresets(JSON.stringify([null, good, 7]))).toEqual([parsed]);
  expect(parsePresets(JSON.stringify(Array(PRESET_BOUNDS.count + 9).fill(good)))).toHaveLength(
    PRESET_BOUNDS.count,
  );
});
