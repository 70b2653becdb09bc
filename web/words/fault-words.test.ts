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
  ["The file is empty.", null],
  ["The source has no sound; use kind video or image.", "The source has no sound."],
  ["The file is a playlist; pass the media itself.", "The file is a playlist; add the media itself."],
  ["options.start (9) must be before the end.", "Start (9) must be before the end."],
] as const)("%s is told by what matters of it", ([message, words]) => {
  expect(faultDetail({ message })).toBe(words ?? message);
});

test("refusals are told once each, without the encoders that were never meant for the work", () => {
  const message = "No encoder here can do this.";
  const av1 = { code: "input_codec", codec: "av1" } as const;
  const copy = { encoder: "copy", code: "needs_encoding", track: "video" } as const;
  const refusals = [copy, { encoder: "wasm", ...av1 }, { encoder: "light", ...av1 }];
  expect(faultDetail({ message, refusals })).toBe("The wasm core cannot decode AV1.");
  expect(faultDetail({ message, refusals: [copy] })).toBe(message);
});

test("what a newer service calls by a kind of its own is said all the same", () => {
  expect(faultWords("of_tomorrow")).toEqual(faultWords("internal_error"));
  expect(faultWords("toString")).toEqual(faultWords("internal_error"));
});

test("no words about a file of the visitor's own speak of an address, a server or a connection", () => {
  for (const kind of ERROR_KINDS.filter((each) => /^(input_|invalid_input|probe_|encode)/.test(each))) {
    const { title, todo } = faultWords(kind, true);
    expect([kind, title + todo]).not.toEqual([
      kind,
      expect.stringMatching(/URL|address|server|your connection/i),
    ]);
  }
  expect(faultWords("input_unreachable").todo).toContain("Check the address");
});
