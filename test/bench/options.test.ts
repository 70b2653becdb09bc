import { expect, test } from "vitest";
import { parseBenchArgs } from "../../bench/options.ts";

const ALL = ["one", "two", "three"];

test.each([
  { args: [], names: ALL, json: null, rounds: null },
  { args: ["--only", "two"], names: ["two"], json: null, rounds: null },
  { args: ["--only", "three,one"], names: ["one", "three"], json: null, rounds: null },
  { args: ["--only=two", "--only", "one,two"], names: ["one", "two"], json: null, rounds: null },
  { args: ["--json", "out.json"], names: ALL, json: "out.json", rounds: null },
  { args: ["--only", "one", "--json=a/b.json"], names: ["one"], json: "a/b.json", rounds: null },
  { args: ["--rounds", "2"], names: ALL, json: null, rounds: 2 },
])("$args", ({ args, names, json, rounds }) => {
  expect(parseBenchArgs(args, ALL)).toEqual({ names, json, rounds });
});

test.each([
  { args: ["--only", "four"], message: "There is no benchmark four; there are one, two, three." },
  {
    args: ["--only", "one,five,six"],
    message: "There is no benchmark five, six; there are one, two, three.",
  },
  { args: ["--only", ""], message: "--only needs names of: one, two, three." },
  { args: ["--only", ","], message: "--only needs names of: one, two, three." },
  { args: ["--json", ""], message: "--json needs the path of a file." },
  { args: ["--rounds", "0"], message: "--rounds needs a number from 1 to 99." },
  { args: ["--rounds", "some"], message: "--rounds needs a number from 1 to 99." },
  { args: ["--json"], message: "Use [--only NAME,…] [--json FILE] [--rounds N]." },
  { args: ["--all"], message: "Use [--only NAME,…] [--json FILE] [--rounds N]." },
  { args: ["one"], message: "Use [--only NAME,…] [--json FILE] [--rounds N]." },
])("rejects $args", ({ args, message }) => {
  expect(() => parseBenchArgs(args, ALL)).toThrow(message);
});
