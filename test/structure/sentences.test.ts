import { expect, test } from "vitest";
import { findSentences, findUnusedErrors } from "./sentences.ts";
import { readSources, type SourceFile } from "./source-files.ts";

// Parts whose errors stand in a catalogue, the file errors.ts of its folder.
const PARTS = {
  "worker/": "worker/errors.ts",
  "worker/container/": "worker/container/errors.ts",
  "worker/encoder/": "worker/encoder/errors.ts",
  "worker/local/": "worker/local/errors.ts",
};
// Builds fail for developers, and each setting has its sentence beside its rule.
const OTHERS = /^worker\/(local\/build|settings)\//;

const files = readSources("worker").filter(({ path }) => !OTHERS.test(path));
const partOf = ({ path }: SourceFile) =>
  Object.keys(PARTS)
    .filter((part) => path.startsWith(part))
    .toSorted((a, b) => b.length - a.length)[0];

test("the English of errors stands in the catalogues alone", () => {
  const catalogues = Object.values(PARTS);
  expect(files.filter(({ path }) => !catalogues.includes(path)).flatMap(findSentences)).toEqual([]);
});

test.for(Object.entries(PARTS))("every error of %s has a use", ([part, path]) => {
  const own = files.filter((file) => partOf(file) === part);
  const catalogue = own.find((file) => file.path === path);
  expect(catalogue && findUnusedErrors(catalogue, own)).toEqual([]);
});

test.for([
  'throw new MediaError("forbidden", "Only an operator may.");',
  `throw new RangeError(\`No encoder takes \${codec}.\`);`,
])("finds the sentence in %s", (line) => {
  expect(findSentences({ path: "x.ts", text: `\n${line}` })).toEqual(["x.ts:2"]);
});

test("accepts an error of a catalogue and one that is passed on", () => {
  const text = "throw errors.keyLimit({ max });\nthrow new MediaError(kind, message, { cause });";
  expect(findSentences({ path: "x.ts", text })).toEqual([]);
});
