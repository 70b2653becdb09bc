import type { Size } from "../media/picture-geometry.ts";
import type { Source } from "../media/source.ts";
import type { ByteReader } from "../runs/ports.ts";
import * as errors from "./errors.ts";

const MAX_BYTES = 8_388_608;
// Drawing this many elements takes a browser a second or two.
const MAX_COST = 500_000;
const MAX_NESTING = 3;
const MAX_EXPANDED = 1_000_000;

/**
 * Describes an SVG from its root. Throws `input_too_large` for more than 8 MiB, and `input_unsupported` when a browser could draw
 * it forever or its entities expand too far.
 */
export async function probeSvg(reader: ByteReader, url: string, signal: AbortSignal): Promise<Source> {
  if (reader.size > MAX_BYTES) throw errors.largeSvg();
  const text = decodeSvg(await reader.read({ start: 0, end: reader.size }, signal));
  if (text === null) throw errors.svgMisencoded();
  const root = findSvgRoot(text);
  if (!root) throw errors.svgCutOff();
  if (costOf(text, root) > MAX_COST) throw errors.svgCostly();
  const size = svgSize(root);
  const width = Math.max(1, Math.round(size.width));
  const height = Math.max(1, Math.round(size.height));
  return {
    object: "source",
    url,
    kind: "image",
    format: "svg",
    mime: "image/svg+xml",
    filesize: reader.size,
    width,
    height,
    coded_width: width,
    coded_height: height,
    sample_aspect_ratio: "1:1",
    rotation: 0,
    has_alpha: true,
    animated: false,
    codecs: { video: "svg", audio: null },
    streams: [{ index: 0, kind: "video", codec: "svg" }],
  };
}

function costOf(text: string, { start }: SvgRoot, depth = 0): number {
  // A data URL in the prolog may be a style sheet.
  if (/data:/i.test(text.slice(0, start))) return Number.POSITIVE_INFINITY;
  const whole = expandEntities(text, start);
  return svgCost(whole, whole.lastIndexOf("<", start), (url) => costOfPicture(url, depth + 1));
}

// Any text in a data URL other than an SVG could hide one, so it costs infinity.
function costOfPicture(url: string, depth: number): number {
  const [, type = "", data = ""] = /^([^,]*),([\s\S]*)$/.exec(url) ?? [];
  if (depth > MAX_NESTING || !/^data:\s*image\/svg/i.test(type)) return Number.POSITIVE_INFINITY;
  const text = /;\s*base64\s*$/i.test(type) ? decodeBase64(resolveEscapes(data)) : resolveEscapes(data);
  const root = findSvgRoot(text);
  return root ? costOf(text, root, depth) : Number.POSITIVE_INFINITY;
}

function decodeBase64(data: string): string {
  const [letters = ""] = /^[\w+/\s]*/.exec(data) ?? [];
  const plain = letters.replace(/[\s_]/g, "");
  const bytes = atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain);
  return new TextDecoder().decode(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)));
}

const ENTITY = /<!ENTITY\s+(%\s*)?([^\s"'<>%&;]+)\s+(?:"([^"]*)"|'([^']*)'|\w+)/g;
const NAMESPACE = /\bxmlns(?::[\w.-]+)?\s+CDATA\s+(?:#FIXED\s+)?(?:"[^"]*"|'[^']*')/g;

// Drawing programs write plain-text entities for namespaces; others can nest or refer to files.
function expandEntities(text: string, start: number): string {
  const prolog = text.slice(0, start);
  const values = new Map<string, string>();
  for (const [, parameter, name = "", double, single] of prolog.matchAll(ENTITY)) {
    const value = double ?? single;
    if (parameter || value === undefined || /[&<%"']/.test(value) || values.has(name))
      throw errors.svgEntities();
    values.set(name, value);
  }
  const hasDefaults =
    prolog.includes("<!ATTLIST") && /["']/.test(attributeLists(prolog).replace(NAMESPACE, ""));
  if (hasDefaults || prolog.split("<!ENTITY").length - 1 !== values.size) throw errors.svgEntities();
  if (values.size === 0) return text;
  let expanded = 0;
  const body = text.slice(start).replace(/&([^\s&;<]+);/g, (reference, name: string) => {
    const value = values.get(name);
    expanded += value?.length ?? 0;
    if (expanded > MAX_EXPANDED) throw errors.svgExpanded();
    return value ?? reference;
  });
  return prolog + body;
}

function attributeLists(prolog: string): string {
  return prolog.slice(prolog.indexOf("<!ATTLIST")).replace(ENTITY, "");
}

/** An element that can be repeated, with its descendants that cannot. */
interface Part {
  children?: Part[];
  repeats?: Map<string, number>;
  weight: number;
  cost?: number;
  /** Depth of the visit in progress; detects cycles. */
  summing?: number;
}

interface Open {
  part: Part;
  /** Ids of paint servers and markers that its descendants inherit. */
  inherited: readonly string[];
}

const FILTER_WEIGHT = 100;
// Browsers sort the lines that cross each row of pixels: 10,000 take half a second a row, 30,000 five seconds.
const crossingWeight = (crossed: number) => crossed ** 2 / 2000;
const NOT_DRAWN = /^(?:linearGradient|radialGradient|stop)$/;
const MAX_DEPTH = 1000;
const MAX_INHERITED = 16;
const MAX_VISITS = 2_000_000;
const MAX_IDS = 200_000;

/**
 * Estimates how many elements a browser draws for an SVG. Parts repeat through `use`, patterns, masks, markers and filters, also
 * nested, so that a few lines can make billions. Infinity when nested too deeply. `costOfPicture` estimates an SVG in a data URL.
 */
function svgCost(text: string, start: number, costOfPicture: (url: string) => number): number {
  const sheet = readSheets(text, start);
  if (!sheet) return Number.POSITIVE_INFINITY;
  const weigh = (urls: readonly string[]) => urls.reduce((cost, url) => cost + costOfPicture(url), 0);
  const root: Part = { weight: weigh(sheet.pictures) + crossingWeight(sheet.crossed) };
  const byId = new Map<string, Part[]>();
  const open: Open[] = [{ part: root, inherited: [] }];
  let repeats = 0;
  const whole = scan(text, start, {
    onStart(reading, closed) {
      const outer = open.at(-1) ?? { part: root, inherited: [] };
      const part = partOf(reading, outer.part, byId);
      part.weight += weigh(reading.pictures);
      const { ids, inherited } = referencesOf(reading, outer.inherited, sheet);
      for (const id of ids) {
        part.repeats ??= new Map();
        part.repeats.set(id, (part.repeats.get(id) ?? 0) + 1);
      }
      if (!closed) open.push({ part, inherited });
      repeats += ids.size;
      const inBounds = inherited.length <= MAX_INHERITED && repeats <= MAX_VISITS && byId.size <= MAX_IDS;
      return inBounds && open.length <= MAX_DEPTH;
    },
    onEnd() {
      if (open.length > 1) open.pop();
    },
  });
  return whole ? sum(root, byId) : Number.POSITIVE_INFINITY;
}

function partOf({ name, id, crossed }: Reading, outer: Part, byId: Map<string, Part[]>): Part {
  const part: Part = id === null ? outer : { weight: 0 };
  if (id !== null) {
    outer.children ??= [];
    outer.children.push(part);
    const same = byId.get(id);
    if (same) same.push(part);
    else byId.set(id, [part]);
  }
  if (name.startsWith("fe")) part.weight += FILTER_WEIGHT;
  else if (!NOT_DRAWN.test(name)) part.weight++;
  part.weight += crossingWeight(crossed);
  return part;
}

function referencesOf({ name, names, ids, painted }: Reading, outer: readonly string[], { rules }: Sheet) {
  const repeated = new Set([...(name === "a" ? [] : ids), ...outer]);
  const own = new Set(painted);
  for (const each of names) {
    const rule = rules.get(each);
    for (const id of rule?.ids ?? []) repeated.add(id);
    for (const id of rule?.painted ?? []) own.add(id);
  }
  return { ids: repeated, inherited: own.size > 0 ? [...new Set([...outer, ...own])] : outer };
}

// Browsers do not draw a part within itself, so the cost inside a cycle depends on where the visit starts and is not cached.
function sum(root: Part, byId: ReadonlyMap<string, readonly Part[]>): number {
  let visits = 0;
  function visit(part: Part, depth: number): { cost: number; within: number } {
    if (depth > MAX_DEPTH || ++visits > MAX_VISITS) return { cost: Number.POSITIVE_INFINITY, within: depth };
    if (part.cost !== undefined) return { cost: part.cost, within: depth };
    if (part.summing !== undefined) return { cost: 0, within: part.summing };
    part.summing = depth;
    let { weight: cost } = part;
    let within = depth;
    const take = (each: Part, times: number): number => {
      const nested = visit(each, depth + 1);
      within = Math.min(within, nested.within);
      return nested.cost * times;
    };
    for (const each of part.children ?? []) cost += take(each, 1);
    for (const [id, times] of part.repeats ?? []) {
      // Browsers disagree on which element a duplicate id means.
      const same = (byId.get(id) ?? []).filter((each) => each !== part);
      cost += same.reduce((max, each) => Math.max(max, take(each, times)), 0);
    }
    delete part.summing;
    if (within >= depth) part.cost = cost;
    return { cost, within: Math.min(within, depth) };
  }
  return visit(root, 0).cost;
}

/** The names and references of a start tag. Ids are in the form that `keyOf` returns. */
interface Reading {
  /** Tag name without prefix. */
  name: string;
  id: string | null;
  /** Simple selectors that match it. */
  names: string[];
  /** Ids that it repeats or paints with; `painted` are those that its descendants inherit. */
  ids: string[];
  painted: string[];
  /** Data URLs of text types, including SVG. */
  pictures: string[];
  /** Average number of lines of its shape that a straight line through it crosses. */
  crossed: number;
}

interface Rule {
  ids: Set<string>;
  painted: Set<string>;
}

/** The rules of an SVG's style sheets, by simple selector. */
interface Sheet {
  rules: Map<string, Rule>;
  pictures: string[];
  crossed: number;
}

interface Reader {
  /** Returns whether to continue. */
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
 * Reads the elements of an SVG from `start`, and returns whether the reader saw all of them. Malformed parts may be misread;
 * browsers do not draw them.
 */
function scan(text: string, start: number, reader: Reader): boolean {
  let last = start;
  for (let at = text.indexOf("<", start); at >= 0; at = text.indexOf("<", last)) {
    reader.onText?.(text.slice(last, at));
    const section = SKIPPED.find(([from]) => text.startsWith(from, at));
    if (section) {
      const [from, to] = section;
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
    const value = resolveReferences(double ?? single ?? "");
    if (attribute === "id") {
      reading.id = keyOf(value);
      reading.names.push(`#${reading.id}`);
    } else if (attribute === "class") {
      for (const each of value.split(/\s+/)) reading.names.push(`.${keyOf(each)}`);
    } else {
      const ids = idsIn(value);
      reading.ids.push(...ids);
      reading.painted.push(
        ...(INHERITED.test(attribute) ? ids : inheritedIds(attribute === "style" ? value : "")),
      );
      reading.pictures.push(...picturesIn(value));
      if (SHAPED.test(attribute)) reading.crossed = Math.max(reading.crossed, crossingsOf(value));
    }
  }
  return reading;
}

const SHAPED = /^(?:d|points|style|values|from|to)$/;

const TEXT = /^data:\s*(?:image\/svg|text\/|application\/(?:xml|xhtml))/i;

function picturesIn(value: string): string[] {
  return value.split(/(?=data:)/i).filter((each) => TEXT.test(each));
}

function inheritedIds(declarations: string): string[] {
  return declarations.split(";").flatMap((each) => {
    const [property = "", ...value] = each.split(":");
    return INHERITED.test(resolveEscapes(property)) ? idsIn(value.join(":")) : [];
  });
}

function idsIn(value: string): string[] {
  if (!/[#\\%]/.test(value)) return [];
  return [...resolveEscapes(value).matchAll(/#([^\s"'()<>;,]*)/g)].map(([, id = ""]) => id || OTHER);
}

const OTHER = "?";

/** Returns an id in the form to compare references with: up to a character that could end one. */
function keyOf(id: string): string {
  return /^[^\s"'()<>;,]*/.exec(resolveEscapes(id))?.[0] || OTHER;
}

function resolveReferences(value: string): string {
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

function resolveEscapes(value: string): string {
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

const MAX_NAMED = 1_000_000;

/** Reads all style sheets of an SVG; null when they have too many names. */
function readSheets(text: string, start: number): Sheet | null {
  const sheet: Sheet = { rules: new Map(), pictures: [], crossed: 0 };
  if (!/[<:]style[\s>]/.test(text)) return sheet;
  let [depth, css, count] = [0, "", 0];
  scan(text, start, {
    onStart({ name }, closed) {
      if (!closed && (depth > 0 || name === "style")) depth++;
      return true;
    },
    onText(chunk) {
      if (depth > 0) css += chunk;
    },
    onEnd() {
      if (depth === 0 || --depth > 0) return;
      sheet.pictures.push(...picturesIn(resolveReferences(css)));
      sheet.crossed = Math.max(sheet.crossed, crossingsOf(css));
      count += addRules(resolveReferences(css), sheet.rules, MAX_NAMED - count);
      css = "";
    },
  });
  return count > MAX_NAMED ? null : sheet;
}

// Braces in these do not count. An unclosed one matches to the end; otherwise text would be scanned again and again.
const QUOTED =
  /\/\*[\s\S]*?(?:\*\/|$)|"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"?|'[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'?|url\([^)"']*/gi;

function addRules(css: string, rules: Sheet["rules"], max: number): number {
  const sheet = css.replace(QUOTED, (quoted) =>
    quoted.startsWith("/*") ? " " : quoted.replace(/[{};]/g, " "),
  );
  let count = 0;
  for (const piece of sheet.split("}")) {
    const outer = piece.split("{");
    const body = outer.pop() ?? "";
    const ids = idsIn(body);
    if (ids.length === 0) continue;
    const painted = inheritedIds(body);
    const names = new Set(body.includes("--") || outer.length === 0 ? ["*"] : outer.flatMap(simpleSelectors));
    count += names.size * ids.length;
    if (count > max) return count;
    for (const name of names) {
      const rule = rules.get(name) ?? { ids: new Set(), painted: new Set() };
      rules.set(name, rule);
      for (const id of ids) rule.ids.add(id);
      for (const id of painted) rule.painted.add(id);
    }
  }
  return count;
}

// Every element that a rule applies to matches one of these; `*` when the selector names none.
function simpleSelectors(selectors: string): string[] {
  return selectors.split(",").flatMap((each) => {
    const plain = each.replace(/\[[^\]]*\]?|::?[\w-]+(?:\([^)]*\)?)?/g, "");
    const names = plain.match(/[.#]?[^\s.#>+~*()&[\]]+|\*/g) ?? ["*"];
    return names.map((name) =>
      /^[.#]/.test(name) ? `${name[0]}${keyOf(name.slice(1))}` : resolveEscapes(name),
    );
  });
}

/** Numbers per segment of path data, by command. */
const NUMBERS = { M: 2, L: 2, T: 2, H: 1, V: 1, S: 4, Q: 4, C: 6, A: 7, Z: 0 } as const;
const COMMAND = /([mlhvcsqtaz])([^mlhvcsqtaz]*)/gi;
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi;
const MIN_LETTERS = 10_000;

/**
 * Estimates how many lines of a shape a straight line through it crosses: the length of its outline along one axis, divided by its
 * extent. Takes path data, a list of points, or a style sheet with `path()`.
 */
function crossingsOf(text: string): number {
  if (text.length < MIN_LETTERS) return 0;
  const paths = [...text.matchAll(/\bpath\(([^)]*)/g)].map(([, path = ""]) => path);
  // Neither path data nor points have a colon; data URLs and declarations do.
  const shapes = paths.length > 0 || text.includes(":") ? paths : [text];
  return shapes.reduce((max, shape) => Math.max(max, crossings(shape)), 0);
}

interface Axis {
  at: number;
  start: number;
  length: number;
  min: number;
  max: number;
}

const axis = (): Axis => ({ at: 0, start: 0, length: 0, min: Number.POSITIVE_INFINITY, max: -Infinity });

function crossings(shape: string): number {
  const [across, down] = [axis(), axis()];
  for (const [, command = "", values = ""] of `L${shape}`.matchAll(COMMAND)) {
    const letter = command.toUpperCase() as keyof typeof NUMBERS;
    const numbers = Array.from(values.matchAll(NUMBER), ([number]) => Number(number));
    if (letter === "Z") for (const each of [across, down]) moveTo(each, each.start);
    const size = NUMBERS[letter];
    for (let from = 0; size > 0 && from + size <= numbers.length; from += size) {
      const isMove = letter === "M" && from === 0;
      const [x, y] = command === letter ? [0, 0] : [across.at, down.at];
      for (let index = letter === "A" ? 5 : 0; index < size; index += 2) {
        const [first = 0, second = 0] = [numbers[from + index], numbers[from + index + 1]];
        if (letter !== "V") moveTo(across, x + first, isMove);
        if (letter === "V") moveTo(down, y + first);
        else if (letter !== "H") moveTo(down, y + second, isMove);
      }
    }
  }
  return Math.max(...[across, down].map(({ length, min, max }) => (max > min ? length / (max - min) : 0)));
}

function moveTo(axis: Axis, to: number, isMove = false): void {
  if (isMove) axis.start = to;
  else axis.length += Math.abs(to - axis.at);
  axis.at = to;
  axis.min = Math.min(axis.min, to);
  axis.max = Math.max(axis.max, to);
}

/** The start tag of an SVG's root element. */
export interface SvgRoot {
  /** Start and end of the attributes in the text, without the tag's brackets. */
  start: number;
  end: number;
  attributes: ReadonlyMap<string, string>;
}

const BOM = 0xfeff;
const DECLARED = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/;
const DECLARATION_BYTES = 256;
const NAME = /^(?:[\w-]+:)?svg(?=[\s/>])/;
const ROOT_ATTRIBUTE = /(?<![^\s"'])([^\s=<>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * Decodes an SVG by its byte order mark, otherwise by the encoding that its XML declaration names, otherwise as UTF-8; with `cut`, it may
 * end within a character. Null when the bytes are not in that encoding or it is unknown.
 */
export function decodeSvg(bytes: Uint8Array, cut = false): string | null {
  try {
    return new TextDecoder(encodingOf(bytes), { fatal: true, ignoreBOM: false }).decode(bytes, {
      stream: cut,
    });
  } catch {
    return null;
  }
}

function encodingOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const [, declared = ""] = DECLARED.exec(String.fromCharCode(...bytes.subarray(0, DECLARATION_BYTES))) ?? [];
  // A declaration that can be read as ASCII is not in UTF-16, whatever it says.
  return declared === "" || /^utf-16/i.test(declared) ? "utf-8" : declared;
}

/** Finds the root of an SVG; null for any other text, or when the start tag is cut off. */
export function findSvgRoot(text: string): SvgRoot | null {
  let at = text.charCodeAt(0) === BOM ? 1 : 0;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at++;
    const end = endOfProlog(text, at);
    if (end === null) break;
    if (end < 0) return null;
    at = end;
  }
  const name = text[at] === "<" && NAME.exec(text.slice(at + 1, at + 64))?.[0];
  if (!name) return null;
  const start = at + 1 + name.length;
  const end = endOfTag(text, start);
  if (end < 0) return null;
  const matches = text.slice(start, end).matchAll(ROOT_ATTRIBUTE);
  const attributes = new Map(
    [...matches].map(([, key = "", double, single]) => [key, double ?? single ?? ""]),
  );
  return { start, end, attributes };
}

function endOfProlog(text: string, at: number): number | null {
  if (text.startsWith("<?", at)) return after(text, "?>", at + 2);
  if (text.startsWith("<!--", at)) return after(text, "-->", at + 4);
  return text.startsWith("<!DOCTYPE", at) ? endOfDoctype(text, at) : null;
}

const CLOSED_BY: Readonly<Record<string, string>> = { "<!--": "-->", "<?": "?>" };

function endOfDoctype(text: string, at: number): number {
  const mark = /<!--|<\?|["'[\]>]/g;
  mark.lastIndex = at;
  let inside = false;
  for (let token = mark.exec(text)?.[0]; token; token = mark.exec(text)?.[0]) {
    if (token === ">" && !inside) return mark.lastIndex;
    if (token === "[" || token === "]") inside = token === "[";
    else if (token !== ">") {
      const end = after(text, CLOSED_BY[token] ?? token, mark.lastIndex);
      if (end < 0) return -1;
      mark.lastIndex = end;
    }
  }
  return -1;
}

function after(text: string, mark: string, at: number): number {
  const start = text.indexOf(mark, at);
  return start < 0 ? -1 : start + mark.length;
}

/** Returns the offset of a start tag's `>` or `/>`; -1 when it is not closed. */
export function endOfTag(text: string, start: number): number {
  let quote = "";
  for (let at = start; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (quote) quote = letter === quote ? "" : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === ">") return text[at - 1] === "/" ? at - 1 : at;
  }
  return -1;
}

// CSS Values and Units 4, at 96 dpi and a font size of 16 pixels.
const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  px: 1,
  pt: 4 / 3,
  pc: 16,
  in: 96,
  cm: 96 / 2.54,
  mm: 9.6 / 2.54,
  q: 2.4 / 2.54,
  em: 16,
  rem: 16,
  ex: 8,
  ch: 8,
};
// CSS 2.2, 10.3.2: replaced elements of unknown size.
const DEFAULT: Size = { width: 300, height: 150 };

/** Returns the size of an SVG in pixels: from its width and height, otherwise its viewBox, otherwise 300 × 150. */
export function svgSize({ attributes }: SvgRoot): Size {
  const box = boxOf(attributes.get("viewBox"));
  const [width, height] = [lengthOf(attributes.get("width")), lengthOf(attributes.get("height"))];
  if (width !== null && height !== null) return { width, height };
  if (!box) return { width: width ?? DEFAULT.width, height: height ?? DEFAULT.height };
  if (width !== null) return { width, height: (width * box.height) / box.width };
  return height !== null ? { width: (height * box.width) / box.height, height } : box;
}

function lengthOf(text: string | undefined): number | null {
  const [, number, unit = ""] = /^\s*\+?(\d*\.?\d+(?:e[+-]?\d+)?)([a-z]*)\s*$/i.exec(text ?? "") ?? [];
  const pixels = Number(number) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  return pixels > 0 ? pixels : null;
}

function boxOf(text: string | undefined): Size | null {
  const [, , width = 0, height = 0, ...more] = (text ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  return width > 0 && height > 0 && more.length === 0 ? { width, height } : null;
}

/**
 * Sets the size of an SVG and adds a missing viewBox, because browsers need both to scale it. Removes the XML declaration, whose
 * encoding no longer applies to decoded text.
 */
export function sizeSvg(text: string, { width, height }: Size): string {
  const root = findSvgRoot(text);
  if (!root) return text;
  const size = svgSize(root);
  const box = boxOf(root.attributes.get("viewBox")) ? "" : ` viewBox="0 0 ${size.width} ${size.height}"`;
  const names = new Set(["width", "height", ...(box ? ["viewBox"] : [])]);
  const rest = text
    .slice(root.start, root.end)
    .replace(ROOT_ATTRIBUTE, (attribute: string, name: string) => (names.has(name) ? "" : attribute));
  const prolog = text.slice(0, root.start).replace(/^\ufeff?\s*<\?xml\s[^>]*\?>/, "");
  return `${prolog} width="${width}" height="${height}"${box}${rest}${text.slice(root.end)}`;
}
