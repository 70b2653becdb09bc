import { expect, test } from "vitest";
import { parseBenchArgs } from "../../bench/options.ts";

const ALL = ["one", "two", "three"];

test.each([
  [[], ALL, null],
  [["--only", "two"], ["two"], null],
  [["--only", "three,one"], ["one", "three"], null],
  [["--only=two", "--only", "one,two"], ["one", "two"], null],
  [["--json", "out.json"], ALL, "out.json"],
  [["--only", "one", "--json=a/b.json"], ["one"], "a/b.json"],
])("%j", (args, names, json) => {
  expect(parseBenchArgs(args, ALL)).toEqual({ names, json });
});

test.each([
  [["--only", "four"], "There is no benchmark four; there are one, two, three."],
  [["--only", "one,five,six"], "There is no benchmark five, six; there are one, two, three."],
  [["--only", ""], "--only needs names of: one, two, three."],
  [["--only", ","], "--only needs names of: one, two, three."],
  [["--json", ""], "--json needs the path of a file."],
  [["--json"], "Use [--only NAME,…] [--json FILE]."],
  [["--all"], "Use [--only NAME,…] [--json FILE]."],
  [["one"], "Use [--only NAME,…] [--json FILE]."],
])("%j is refused", (args, message) => {
  expect(() => parseBenchArgs(args, ALL)).toThrow(message);
});
