import { expect, test } from "vitest";
import type { MediaInput, Source } from "../../src/index.ts";
import { defaultSettings } from "../options/default-settings.ts";
import { createItem, type Item } from "../queue/item.ts";
import { mayKeepOriginal, outlookOf } from "./outlook.ts";

const source: Source = { object: "source", url: "file:", kind: "video", format: "webm", filesize: 1000 };
const LARGER = { low: 2000, high: 2000, seconds: null };

function itemOf(input: MediaInput, options: object = {}): Item {
  const settings = { ...defaultSettings(source), options };
  return { ...createItem(input), source, settings, size: 1000 };
}

test.for([
  { name: "the page's options", item: itemOf(new File(["film"], "film.webm")), keeps: true },
  {
    name: "the visitor's own options",
    item: itemOf(new File(["film"], "film.webm"), { quality: "very_high" }),
    keeps: false,
  },
  { name: "a URL", item: itemOf("https://a.example/film.webm"), keeps: false },
])("with $name, the page keeps the original of a larger output: $keeps", ({ item, keeps }) => {
  expect([mayKeepOriginal(item), outlookOf(item, LARGER)?.tone]).toEqual([keeps, keeps ? "kept" : "over"]);
});
