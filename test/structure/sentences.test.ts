import { posix } from "node:path";
import { expect, test } from "vitest";
import { importsOf } from "./layers.ts";
import { findSentences, findUnusedErrors } from "./sentences.ts";
import { readSources, type SourceFile } from "./source-files.ts";

// Folders whose errors stand in catalogues.
const FOLDERS = [
  "src/browser",
  "src/encoders",
  "src/media",
  "src/mux",
  "src/probe",
  "src/subtitles",
  "worker",
];
const CATALOGUES = [
  "src/browser/errors.ts",
  "src/browser/media-worker/errors.ts",
  "src/browser/page/errors.ts",
  "src/encoders/errors.ts",
  "src/encoders/images/errors.ts",
  "src/encoders/light/errors.ts",
  "src/encoders/native/errors.ts",
  "src/encoders/run/errors.ts",
  "src/encoders/wasm/errors.ts",
  "src/encoders/wasm/page-errors.ts",
  "src/encoders/webcodecs/errors.ts",
  "src/media/ffmpeg/errors.ts",
  "src/media/plan-errors.ts",
  "src/mux/errors.ts",
  "src/probe/errors.ts",
  "src/subtitles/errors.ts",
  "worker/errors.ts",
  "worker/container/errors.ts",
  "worker/encoder/errors.ts",
  "worker/local/errors.ts",
];
// The class itself, with the error of a cause that a response must not reveal.
const ERROR_CLASS = "src/media/errors.ts";
// Builds fail for developers, and each setting has its sentence beside its rule.
const OTHERS = /^worker\/(local\/build|settings)\//;

const files = readSources(...FOLDERS).filter(({ path }) => !OTHERS.test(path));
const resolve = (file: SourceFile) =>
  importsOf(file).map((name) => posix.join(posix.dirname(file.path), name));
const imports = new Map(files.map((file) => [file, resolve(file)]));

test("the English of errors stands in the catalogues alone", () => {
  const others = files.filter(({ path }) => ![...CATALOGUES, ERROR_CLASS].includes(path));
  expect(others.flatMap(findSentences)).toEqual([]);
});

test.for(CATALOGUES)("every error of %s has a use", (path) => {
  const catalogue = files.find((file) => file.path === path);
  const users = files.filter((file) => imports.get(file)?.includes(path));
  expect(catalogue && findUnusedErrors(catalogue, users)).toEqual([]);
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
