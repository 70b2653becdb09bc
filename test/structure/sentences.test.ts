import { expect, test } from "vitest";
import { findSentences, findUnusedRows } from "./sentences.ts";
import { readSources } from "./source-files.ts";

// The class itself, with the error of a cause that a response must not reveal.
const ERROR_CLASS = "src/media/errors.ts";
// Statuses and bodies, without sentences.
const RESPONSES = "worker/http/errors.ts";
// Builds fail for developers, and each setting has its sentence beside its rule.
const OTHERS = /^worker\/(local\/build|settings)\//;

const files = readSources("src", "worker").filter(({ path }) => !OTHERS.test(path));
const catalogues = files.filter(
  ({ path }) => /\berrors\.ts$/.test(path) && path !== ERROR_CLASS && path !== RESPONSES,
);

test("the English of errors stands in the catalogues alone", () => {
  expect(catalogues.length).toBeGreaterThan(10);
  const others = files.filter((file) => !catalogues.includes(file) && file.path !== ERROR_CLASS);
  expect(others.flatMap(findSentences)).toEqual([]);
});

test.for(catalogues)("every error of $path has a use", (catalogue) => {
  expect(findUnusedRows(catalogue, files)).toEqual([]);
});

test("finds an error without a use, whatever its catalogue is called where it is imported", () => {
  const text = "export const late = () => new Error();\nexport const early = () => new Error();\n";
  const user = 'import * as runErrors from "../runs/errors.ts";\nthrow runErrors.late();\nerrors.early();';
  const catalogue = { path: "src/runs/errors.ts", text };
  expect(findUnusedRows(catalogue, [{ path: "src/page/x.ts", text: user }])).toEqual([
    "src/runs/errors.ts: early",
  ]);
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
