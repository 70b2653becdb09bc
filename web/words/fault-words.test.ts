import { expect, test } from "vitest";
import { ERROR_KINDS } from "../../src/index.ts";
import { faultWords } from "./fault-words.ts";

test("every kind of fault is said in sentences, without the words of the machinery", () => {
  for (const kind of ERROR_KINDS) {
    const { title, todo } = faultWords(kind);
    expect(title).toMatch(/^[A-Z].*\.$/);
    expect(todo).toMatch(/^[A-Z].*\.$/);
    expect(title + todo).not.toMatch(/_|undefined|null/);
  }
});

test("what a newer service calls by a kind of its own is said all the same", () => {
  expect(faultWords("of_tomorrow")).toEqual(faultWords("internal_error"));
  expect(faultWords("toString")).toEqual(faultWords("internal_error"));
});
