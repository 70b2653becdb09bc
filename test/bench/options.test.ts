import { expect, test } from "vitest";
import { parseBenchArgs } from "../../bench/options.ts";

const ALL = ["one", "two", "three"];

test.each([
  [[], ALL, null, null],
  [["--only", "two"], ["two"], null, null],
  [["--only", "three,one"], ["one", "three"], null, null],
  [["--only=two", "--only", "one,two"], ["one", "two"], null, null],
  [["--json", "out.json"], ALL, "out.json", null],
  [["--only", "one", "--json=a/b.json"], ["one"], "a/b.json", null],
  [["--rounds", "2"], ALL, null, 2],
])("%j", (args, names, json, rounds) => {
  expect(parseBenchArgs(args, ALL)).toEqual({ names, json, rounds });
});

test.each([
  [["--only", "four"], "There is no benchmark four; there are one, two, three."],
  [["--only", "one,five,six"], "There is no benchmark five, six; there are one, two, three."],
  [["--only", ""], "--only needs names of: one, two, three."],
  [["--only", ","], "--only needs names of: one, two, three."],
  [["--json", ""], "--json needs the path of a file."],
  [["--rounds", "0"], "--rounds needs a number from 1 to 99."],
  [["--rounds", "some"], "--rounds needs a number from 1 to 99."],
  [["--json"], "Use [--only NAME,…] [--json FILE] [--rounds N]."],
  [["--all"], "Use [--only NAME,…] [--json FILE] [--rounds N]."],
  [["one"], "Use [--only NAME,…] [--json FILE] [--rounds N]."],
])("rejects %j", (args, message) => {
  expect(() => parseBenchArgs(args, ALL)).toThrow(message);
});
