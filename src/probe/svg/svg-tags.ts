import { crossingsOf } from "./svg-lines.ts";
import { endOfTag } from "./svg-root.ts";

/** What a start tag names. Ids are in the form that `keyOf` returns. */
export interface Reading {
  /** Without its prefix. */
  name: string;
  id: string | null;
  /** Selectors by which a style sheet may name it. */
  names: string[];
  /** Ids of what it repeats or paints with, and those of them with which what is in it is painted too. */
  ids: string[];
  painted: string[];
  /** Data URLs of text, SVGs among it. */
  pictures: string[];
  /** How many lines of its shape a line through it meets, on average. */
  crossed: number;
}

interface Rule {
  ids: Set<string>;
  painted: Set<string>;
}

/** What the style sheets of an SVG name, by simple selector. */
export interface Sheet {
  rules: Map<string, Rule>;
  pictures: string[];
  crossed: number;
}

interface Reader {
  /** Returns whether to go on. */
  onStart(reading: Reading, closed: boolean): boolean;
  onEnd?(): void;
  /** Receives text, without comments. */
  onText?(text: string): void;
}

const SKIPPED = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
] as const;

/**
 * Reads the elements of an SVG from `start`, and returns whether the reader saw all of them. What is not well-formed, which
 * browsers do not draw, may be read as anything.
 */
export function scan(text: string, start: number, reader: Reader): boolean {
  let last = start;
  for (let at = text.indexOf("<", start); at >= 0; at = text.indexOf("<", last)) {
    reader.onText?.(text.slice(last, at));
    const skipped = SKIPPED.find(([from]) => text.startsWith(from, at));
    if (skipped) {
      const [from, to] = skipped;
      const end = text.indexOf(to, at + from.length);
      if (end < 0) return true;
      if (from === "<![CDATA[") reader.onText?.(text.slice(at + from.length, end));
      last = end + to.length;
      continue;
    }
    last = at + 1;
    if (text[last] === "/") {
      reader.onEnd?.();
      continue;
    }
    const end = endOfTag(text, last);
    if (end < 0) return true;
    last = end;
    if (!reader.onStart(readTag(text.slice(at, end)), text[end] === "/")) return false;
  }
  return true;
}

const ATTRIBUTE = /\s([^\s=<>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
// Properties that elements have from those around them; a variable may stand for one.
const INHERITED = /^\s*(?:fill|stroke|marker[\w-]*|--.*)\s*$/i;

function readTag(tag: string): Reading {
  const name = /^<(?:[^\s:/>]+:)?([^\s:/>]*)/.exec(tag)?.[1] ?? "";
  const reading: Reading = {
    name,
    id: null,
    names: [name, "*"],
    ids: [],
    painted: [],
    pictures: [],
    crossed: 0,
  };
  for (const [, attribute = "", double, single] of tag.matchAll(ATTRIBUTE)) {
    const value = unreferenced(double ?? single ?? "");
    if (attribute === "id") {
      reading.id = keyOf(value);
      reading.names.push(`#${reading.id}`);
    } else if (attribute === "class") {
      for (const each of value.split(/\s+/)) reading.names.push(`.${keyOf(each)}`);
    } else {
      const ids = idsIn(value);
      reading.ids.push(...ids);
      reading.painted.push(
        ...(INHERITED.test(attribute) ? ids : paintedIn(attribute === "style" ? value : "")),
      );
      reading.pictures.push(...picturesIn(value));
      if (SHAPED.test(attribute)) reading.crossed = Math.max(reading.crossed, crossingsOf(value));
    }
  }
  return reading;
}

// Attributes that hold the lines of a shape, and those of an animation, whose first value is drawn.
const SHAPED = /^(?:d|points|style|values|from|to)$/;

const TEXT = /^data:\s*(?:image\/svg|text\/|application\/(?:xml|xhtml))/i;

// Each with what follows it.
function picturesIn(value: string): string[] {
  return value.split(/(?=data:)/i).filter((each) => TEXT.test(each));
}

function paintedIn(declarations: string): string[] {
  return declarations.split(";").flatMap((each) => {
    const [property = "", ...value] = each.split(":");
    return INHERITED.test(unescaped(property)) ? idsIn(value.join(":")) : [];
  });
}

function idsIn(value: string): string[] {
  if (!/[#\\%]/.test(value)) return [];
  return [...unescaped(value).matchAll(/#([^\s"'()<>;,]*)/g)].map(([, id = ""]) => id || OTHER);
}

const OTHER = "?";

/** Returns an id as references are compared with it: up to what could end one. */
function keyOf(id: string): string {
  return /^[^\s"'()<>;,]*/.exec(unescaped(id))?.[0] || OTHER;
}

// As XML writes letters.
function unreferenced(value: string): string {
  if (!value.includes("&")) return value;
  return value.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi,
    (all, hex, decimal, name) => {
      if (name !== undefined) return NAMED[name as keyof typeof NAMED] ?? all;
      return letter(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
    },
  );
}

const NAMED = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" } as const;

/** Reads letters as style sheets and URLs write them. */
export function unescaped(value: string): string {
  if (!/[\\%]/.test(value)) return value;
  const styled = value.replace(/\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi, (_, hex, other) =>
    hex === undefined ? other : letter(Number.parseInt(hex, 16)),
  );
  return styled.replace(/(?:%[0-9a-f]{2})+/gi, (coded) => {
    try {
      return decodeURIComponent(coded);
    } catch {
      return coded;
    }
  });
}

function letter(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
}

const MOST_NAMED = 1_000_000;

/** Reads all style sheets of an SVG; null where they name too much. */
export function readSheets(text: string, start: number): Sheet | null {
  const sheet: Sheet = { rules: new Map(), pictures: [], crossed: 0 };
  if (!/[<:]style[\s>]/.test(text)) return sheet;
  let [depth, written, named] = [0, "", 0];
  scan(text, start, {
    onStart({ name }, closed) {
      if (!closed && (depth > 0 || name === "style")) depth++;
      return true;
    },
    onText(found) {
      if (depth > 0) written += found;
    },
    onEnd() {
      if (depth === 0 || --depth > 0) return;
      sheet.pictures.push(...picturesIn(unreferenced(written)));
      sheet.crossed = Math.max(sheet.crossed, crossingsOf(written));
      named += addRules(unreferenced(written), sheet.rules, MOST_NAMED - named);
      written = "";
    },
  });
  return named > MOST_NAMED ? null : sheet;
}

// Comments, and what may hold a brace that opens or closes nothing.
// Each is read to the end where nothing closes it, so that none is read twice.
const QUOTED =
  /\/\*[\s\S]*?(?:\*\/|$)|"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"?|'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'?|url\([^)"']*/gi;

// Returns how many ids it added.
function addRules(written: string, rules: Sheet["rules"], most: number): number {
  const sheet = written.replace(QUOTED, (found) =>
    found.startsWith("/*") ? " " : found.replace(/[{};]/g, " "),
  );
  let added = 0;
  for (const piece of sheet.split("}")) {
    const outer = piece.split("{");
    const body = outer.pop() ?? "";
    const ids = idsIn(body);
    if (ids.length === 0) continue;
    const painted = paintedIn(body);
    const names = new Set(body.includes("--") || outer.length === 0 ? ["*"] : outer.flatMap(selected));
    added += names.size * ids.length;
    if (added > most) return added;
    for (const name of names) {
      const rule = rules.get(name) ?? { ids: new Set(), painted: new Set() };
      rules.set(name, rule);
      for (const id of ids) rule.ids.add(id);
      for (const id of painted) rule.painted.add(id);
    }
  }
  return added;
}

// Those of which each element that a rule applies to has one; any element where a part of it names none.
function selected(selectors: string): string[] {
  return selectors.split(",").flatMap((each) => {
    const plain = each.replace(/\[[^\]]*\]?|::?[\w-]+(?:\([^)]*\)?)?/g, "");
    const names = plain.match(/[.#]?[^\s.#>+~*()&[\]]+|\*/g) ?? ["*"];
    return names.map((name) => (/^[.#]/.test(name) ? `${name[0]}${keyOf(name.slice(1))}` : unescaped(name)));
  });
}
