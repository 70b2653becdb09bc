import { expect, test } from "vitest";
import { ERROR_KINDS } from "../../src/index.ts";
import { faultDetail, faultWords } from "./fault-words.ts";

test("every kind of fault is said in sentences, without the words of the machinery", () => {
  for (const kind of ERROR_KINDS) {
    const { title, todo } = faultWords(kind);
    expect(title).toMatch(/^[A-Z].*\.$/);
    expect(todo).toMatch(/^[A-Z].*\.$/);
    expect(title + todo).not.toMatch(/_|undefined|null/);
  }
});

test.for([
  [
    "No encoder here can do this (copy: it only copies video; wasm: the wasm core cannot read animated WebP; wasm-mt: it is for h265 alone).",
    "The wasm core cannot read animated WebP.",
  ],
  ["No encoder here can do this (light: too large; native: too large).", "Too large."],
  ["No encoder here can do this (copy: it only copies video).", null],
  ["The file is empty.", null],
] as const)("%s is told by what matters of it", ([message, words]) => {
  expect(faultDetail(message)).toBe(words ?? message);
});

test("what a newer service calls by a kind of its own is said all the same", () => {
  expect(faultWords("of_tomorrow")).toEqual(faultWords("internal_error"));
  expect(faultWords("toString")).toEqual(faultWords("internal_error"));
});
