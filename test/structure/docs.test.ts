import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findPublicNames, findUndocumented, findUndocumentedMembers } from "./docs.ts";
import { ROOT, readSources } from "./source-files.ts";

// The source files of the package's entry points.
function readEntries(): string[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const targets: (string | { types: string })[] = Object.values(exports);
  return targets.flatMap((target) =>
    typeof target === "string"
      ? []
      : target.types.replace(/^\.\/dist\/lib\/(.+)\.d\.ts$/, (_, path: string) => `${path}.ts`),
  );
}

test("every symbol of the public API has a doc comment", () => {
  const files = readSources("src", "worker").filter(({ path }) => !path.endsWith(".d.ts"));
  const entries = readEntries();
  expect(entries).toContain("src/index.ts");
  expect(entries.length).toBeGreaterThan(15);
  const names = findPublicNames(entries, files);
  expect([...names.values()].reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(150);
  const missing = files.flatMap((file) =>
    findUndocumented(file, (name) => names.get(file.path)?.has(name) ?? false),
  );
  expect(missing).toEqual([]);
});

test("so has every member of the types that a page, a service's client or a receiver of webhooks uses", () => {
  const files = readSources("src").filter(({ path }) => !path.endsWith(".d.ts"));
  const entries = ["src/index.ts", "src/browser/index.ts", "src/client/index.ts", "src/webhooks/verify.ts"];
  expect(readEntries()).toEqual(expect.arrayContaining(entries));
  const names = findPublicNames(entries, files);
  const missing = files.flatMap((file) =>
    findUndocumentedMembers(file, (name) => names.get(file.path)?.has(name) ?? false),
  );
  expect(missing).toEqual([]);
});

test("finds the members without a comment in interfaces and in unions of objects", () => {
  const text = `
    export interface A {
      /** The meaning of it. */
      a: number;
      // Not for readers of the type.
      b(): void;
      readonly c?: { inner: string };
    }
    export type B = { d: 1 } | ({ /** The meaning of it. */ e: 2 } & A);
    interface C { f: 1 }`;
  const missing = findUndocumentedMembers({ path: "x.ts", text }, (name) => name !== "C");
  expect(missing).toEqual(["x.ts: A.b", "x.ts: A.c", "x.ts: B.d"]);
});

// The undocumented exports of a file, as if it were an entry point.
function undocumentedIn(text: string): string[] {
  const file = { path: "x.ts", text };
  const names = findPublicNames(["x.ts"], [file, { path: "e.ts", text: "" }, { path: "f.ts", text: "" }]);
  return findUndocumented(file, (name) => names.get("x.ts")?.has(name) ?? false);
}

test.for([
  { text: "export const a = 1;", name: "a" },
  { text: "export function b() {}", name: "b" },
  { text: "export class C {}", name: "C" },
  { text: "export interface D {}", name: "D" },
  { text: "export type E = string;", name: "E" },
  { text: "export default function f() {}", name: "f" },
  { text: "export default { fetch() {} };", name: "default" },
  { text: "const g = 1;\nexport { g };", name: "g" },
  { text: "/** The meaning of it. */\n\nconst other = 1;\nexport const h = 1;", name: "h" },
  { text: "// Why it is so.\nexport const i = 1;", name: "i" },
  { text: "/* No doc comment. */\nexport const j = 1;", name: "j" },
  { text: "/** */\nexport const k = 1;", name: "k" },
  { text: "/** The meaning of the schema. */\nexport const L = 1;\nexport type L = 1;", name: "L" },
])("finds the missing comment in $text", ({ text, name }) => {
  expect(undocumentedIn(text ?? "")).toEqual([`x.ts: ${name}`]);
});

test("accepts documented, private and foreign symbols", () => {
  const text = `
    /** The meaning of it. */
    export const a = 1;
    /**
     * What it means,
     * in two lines.
     */
    export async function b(): Promise<void> {}
    /** Returns either. */
    export function c(x: string): string;
    export function c(x: number): number;
    export function c(x: unknown) { return x; }
    /** The meaning of it. */
    const d = 1;
    const hidden = 2;
    export { d };
    export { e } from "./e.ts";
    export * from "./f.ts";`;
  expect(undocumentedIn(text)).toEqual([]);
});

test("follows re-exports to the declaration and its own name; other exports stay internal", () => {
  const files = [
    {
      path: "src/index.ts",
      text: 'export { a as b, type C } from "./in/list.ts";\nexport { z } from "zod";',
    },
    {
      path: "src/in/list.ts",
      text: 'import { d as a } from "../d.ts";\nexport { a };\nexport * from "./e.ts";',
    },
    { path: "src/d.ts", text: "export const d = 1;\nexport const internal = 2;" },
    { path: "src/in/e.ts", text: "export interface C {}\nexport interface Internal {}" },
  ];
  const names = findPublicNames(["src/index.ts"], files);
  expect(Object.fromEntries([...names].map(([path, exports]) => [path, [...exports]]))).toEqual({
    "src/index.ts": [],
    "src/in/list.ts": [],
    "src/d.ts": ["d"],
    "src/in/e.ts": ["C"],
  });
});
