import { expect, test } from "vitest";
import { findPageTexts } from "./page-strings.ts";
import { findUnusedRows } from "./sentences.ts";
import { readSources } from "./source-files.ts";

const files = readSources("web").filter(({ path }) => !/\.test\.|\.d\.ts$/.test(path));
const catalogues = files.filter(({ path }) => path.endsWith("strings.ts"));
test("the words of the page stand in its catalogues", () => {
  expect(files.filter(({ path }) => path.endsWith(".tsx")).flatMap(findPageTexts)).toEqual([]);
});

test("every row of a catalogue has a use", () => {
  expect(catalogues.length).toBeGreaterThan(5);
  const unused = catalogues.flatMap((catalogue) => findUnusedRows(catalogue, files));
  expect(unused).toEqual([]);
});

test.for([
  ["<p>Nothing is uploaded.</p>", "Nothing is uploaded."],
  ["<button>Cancel</button>", "Cancel"],
  ['<p>{isDone ? "Done" : strings.running}</p>', "Done"],
  ['<input aria-label="Add files" />', "Add files"],
  ['<Field label={optional ? "Folder" : strings.bucket} />', "Folder"],
  [`<img alt={\`Picture at \${time}\`} />`, "Picture at"],
] as const)("finds the text in %s", ([line, words]) => {
  expect(findPageTexts({ path: "x.tsx", text: line })).toEqual([`x.tsx: ${words}`]);
});

test("accepts rows, units, names and examples", () => {
  const text =
    '<p title={strings.name}>{percent} % · {time} s <b>Framewright</b><input placeholder="https://…/a.png" class="small soft" /></p>';
  expect(findPageTexts({ path: "x.tsx", text })).toEqual([]);
});
