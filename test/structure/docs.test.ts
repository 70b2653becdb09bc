import { expect, test } from "vitest";
import { findUndocumented } from "./docs.ts";
import { readSources } from "./source-files.ts";

test("every exported symbol has a doc comment", () => {
  const files = readSources("src", "worker", "web").filter(({ path }) => !path.endsWith(".d.ts"));
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap(findUndocumented)).toEqual([]);
});

test.for([
  ["export const a = 1;", "a"],
  ["export function b() {}", "b"],
  ["export class C {}", "C"],
  ["export interface D {}", "D"],
  ["export type E = string;", "E"],
  ["export default function f() {}", "f"],
  ["export default { fetch() {} };", "default"],
  ["const g = 1;\nexport { g };", "g"],
  ["/** What it means. */\n\nconst other = 1;\nexport const h = 1;", "h"],
  ["// Why it is so.\nexport const i = 1;", "i"],
  ["/* No doc comment. */\nexport const j = 1;", "j"],
  ["/** */\nexport const k = 1;", "k"],
  ["/** What the schema means. */\nexport const L = 1;\nexport type L = 1;", "L"],
])("a missing comment is found in %j", ([text, name]) => {
  expect(findUndocumented({ path: "x.ts", text: text ?? "" })).toEqual([`x.ts: ${name}`]);
});

test("documented, private and foreign symbols pass", () => {
  const text = `
    /** What it means. */
    export const a = 1;
    /**
     * What it means,
     * in two lines.
     */
    export async function b(): Promise<void> {}
    /** Gives either. */
    export function c(x: string): string;
    export function c(x: number): number;
    export function c(x: unknown) { return x; }
    /** What it means. */
    const d = 1;
    const hidden = 2;
    export { d };
    export { e } from "./e.ts";
    export * from "./f.ts";`;
  expect(findUndocumented({ path: "x.ts", text })).toEqual([]);
});
