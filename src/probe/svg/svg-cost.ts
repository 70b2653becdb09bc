import { endOfTag } from "./svg-root.ts";

interface Element {
  children: Element[];
  /** Ids of what it repeats or paints with, and the selectors by which a style sheet may name more. */
  ids: string[];
  names: string[];
  weight: number;
  /** Elements drawn for it; null while they are counted. */
  cost?: number | null;
}

// A primitive of a filter works on all pixels of its region.
const FILTER_WEIGHT = 100;
const MOST_DEPTH = 1000;
const REFERENCE = /#([\w.:-]+)/g;
const ID = /\sid\s*=\s*(?:"([^"]*)"|'([^']*)')/;
const CLASS = /\sclass\s*=\s*(?:"([^"]*)"|'([^']*)')/;

/**
 * Estimates how many elements a browser draws for an SVG, which repeats parts by `use`, patterns, masks, markers and filters, also
 * within each other: a few lines can make billions. Infinity for one nested too deeply.
 */
export function svgCost(text: string, start: number): number {
  const root: Element = { children: [], ids: [], names: [], weight: 0 };
  const byId = new Map<string, Element>();
  const styled = new Map<string, string[]>();
  const open = [root];
  for (let at = text.indexOf("<", start); at >= 0; at = text.indexOf("<", at)) {
    const skipped = skip(text, at);
    if (skipped !== null) {
      at = skipped;
      continue;
    }
    if (text[at + 1] === "/") {
      if (open.length > 1) open.pop();
      at++;
      continue;
    }
    const end = endOfTag(text, at + 1);
    if (end < 0) break;
    const tag = text.slice(at, end);
    const element = readTag(tag, byId);
    open.at(-1)?.children.push(element);
    if (text[end] !== "/") open.push(element);
    if (open.length > MOST_DEPTH) return Number.POSITIVE_INFINITY;
    at = end;
    if (element.names[0] === "style") readStyle(text.slice(end, text.indexOf("</", end)), styled);
  }
  return costOf(root, byId, styled, 0);
}

function skip(text: string, at: number): number | null {
  for (const [from, to] of [
    ["<!--", "-->"],
    ["<![CDATA[", "]]>"],
    ["<?", "?>"],
  ] as const) {
    if (!text.startsWith(from, at)) continue;
    const end = text.indexOf(to, at);
    return end < 0 ? text.length : end;
  }
  return null;
}

function readTag(tag: string, byId: Map<string, Element>): Element {
  const name = /^<(?:[\w-]+:)?([\w-]*)/.exec(tag)?.[1] ?? "";
  const [, double, single] = ID.exec(tag) ?? [];
  const id = double ?? single;
  const [, classes = "", others = ""] = CLASS.exec(tag) ?? [];
  const element: Element = {
    children: [],
    ids: [...tag.matchAll(REFERENCE)].map(([, found = ""]) => found),
    names: [
      name,
      "*",
      ...(id ? [`#${id}`] : []),
      ...(classes || others)
        .split(/\s+/)
        .filter(Boolean)
        .map((each) => `.${each}`),
    ],
    weight: name.startsWith("fe") ? FILTER_WEIGHT : 1,
  };
  if (id !== undefined && !byId.has(id)) byId.set(id, element);
  return element;
}

// Which ids the rules of a style sheet name, by the simple selectors of each.
function readStyle(sheet: string, styled: Map<string, string[]>): void {
  for (const rule of sheet.split("}")) {
    const [selector = "", body = ""] = rule.split("{");
    const ids = [...body.matchAll(REFERENCE)].map(([, found = ""]) => found);
    if (!body.includes("url") || ids.length === 0) continue;
    for (const name of selector.match(/[.#]?[\w-]+|\*/g) ?? []) {
      const known = styled.get(name) ?? [];
      styled.set(name, known);
      for (const id of ids) known.push(id);
    }
  }
}

function costOf(
  element: Element,
  byId: ReadonlyMap<string, Element>,
  styled: ReadonlyMap<string, string[]>,
  depth: number,
): number {
  if (element.cost !== undefined) return element.cost ?? 0;
  if (depth > MOST_DEPTH) return Number.POSITIVE_INFINITY;
  // What contains itself is not drawn.
  element.cost = null;
  let cost = element.weight;
  const ids = new Set([...element.ids, ...element.names.flatMap((name) => styled.get(name) ?? [])]);
  for (const each of element.children) cost += costOf(each, byId, styled, depth + 1);
  for (const id of ids) {
    const target = byId.get(id);
    if (target && target !== element) cost += costOf(target, byId, styled, depth + 1);
  }
  element.cost = cost;
  return cost;
}
