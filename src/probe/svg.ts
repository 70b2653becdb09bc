import { MediaError } from "../media/errors.ts";
import type { Source } from "../media/source.ts";
import type { ByteReader } from "../runs/ports.ts";
import { unsupported } from "./sniff.ts";
import { endOfTag, findSvgRoot, type SvgRoot, svgSize } from "./svg-root.ts";

const MOST_BYTES = 8_388_608;
// Elements that a browser draws in a second or two.
const MOST_COST = 500_000;
// Pictures in pictures.
const MOST_PICTURES_DEEP = 3;
// Letters that the entities of a text become.
const MOST_EXPANDED = 1_000_000;

/**
 * Describes an SVG by its root. Throws `input_too_large` for one of more than 8 MiB, and `input_unsupported` for one that a browser
 * could draw forever or that its entities blow up, so that nothing draws it.
 */
export async function probeSvg(reader: ByteReader, url: string, signal: AbortSignal): Promise<Source> {
  if (reader.size > MOST_BYTES) {
    throw new MediaError("input_too_large", "The SVG is larger than 8 MiB.", { retryable: false });
  }
  const text = decode(await reader.read({ start: 0, end: reader.size }, signal));
  const root = findSvgRoot(text);
  if (!root) throw unsupported("The SVG is damaged or cut off.");
  if (costOf(text, root) > MOST_COST) {
    throw unsupported(
      "The SVG has so many parts, or repeats them so often, that drawing it could take forever.",
    );
  }
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
    ...{ width, height, coded_width: width, coded_height: height },
    sample_aspect_ratio: "1:1",
    rotation: 0,
    has_alpha: true,
    animated: false,
    codecs: { video: "svg", audio: null },
    streams: [{ index: 0, kind: "video", codec: "svg" }],
  };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw unsupported("The SVG is not in UTF-8.");
  }
}

function costOf(text: string, { start }: SvgRoot, depth = 0): number {
  // Style sheets in data URLs.
  if (/data:/i.test(text.slice(0, start))) return Number.POSITIVE_INFINITY;
  const whole = expandEntities(text, start);
  return svgCost(whole, whole.lastIndexOf("<", start), (url) => costOfPicture(url, depth + 1));
}

// An SVG may be a picture in another; any other text in a data URL may hold one.
function costOfPicture(url: string, depth: number): number {
  const [, type = "", data = ""] = /^([^,]*),([\s\S]*)$/.exec(url) ?? [];
  if (depth > MOST_PICTURES_DEEP || !/^data:\s*image\/svg/i.test(type)) return Number.POSITIVE_INFINITY;
  const text = /;\s*base64\s*$/i.test(type) ? decodeBase64(unescaped(data)) : unescaped(data);
  const root = findSvgRoot(text);
  return root ? costOf(text, root, depth) : Number.POSITIVE_INFINITY;
}

function decodeBase64(data: string): string {
  const [letters = ""] = /^[\w+/\s]*/.exec(data) ?? [];
  const plain = letters.replace(/[\s_]/g, "");
  // One letter more than whole bytes is none.
  const bytes = atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain);
  return new TextDecoder().decode(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)));
}

const ENTITY = /<!ENTITY\s+(%\s*)?([^\s"'<>%&;]+)\s+(?:"([^"]*)"|'([^']*)'|\w+)/g;
// What a document type may add to tags are namespaces.
const NAMESPACE = /\bxmlns(?::[\w.-]+)?\s+CDATA\s+(?:#FIXED\s+)?(?:"[^"]*"|'[^']*')/g;

// Programs that draw SVGs write plain ones, for namespaces; others contain each other, or a file.
function expandEntities(text: string, start: number): string {
  const prolog = text.slice(0, start);
  const values = new Map<string, string>();
  for (const [, parameter, name = "", double, single] of prolog.matchAll(ENTITY)) {
    const value = double ?? single;
    if (parameter || value === undefined || /[&<%"']/.test(value) || values.has(name)) throw entities();
    values.set(name, value);
  }
  const added = prolog.includes("<!ATTLIST") && /["']/.test(declared(prolog).replace(NAMESPACE, ""));
  if (added || prolog.split("<!ENTITY").length - 1 !== values.size) throw entities();
  if (values.size === 0) return text;
  let expanded = 0;
  const body = text.slice(start).replace(/&([^\s&;<]+);/g, (reference, name: string) => {
    const value = values.get(name);
    expanded += value?.length ?? 0;
    if (expanded > MOST_EXPANDED) throw unsupported("The entities of the SVG make it too large.");
    return value ?? reference;
  });
  return prolog + body;
}

function declared(prolog: string): string {
  return prolog.slice(prolog.indexOf("<!ATTLIST")).replace(ENTITY, "");
}

function entities(): MediaError {
  return unsupported("The SVG has entities that stand for more than text; save it without them.");
}

/** Elements that are drawn together: one that can be repeated, with those in it that cannot. */
interface Part {
  children?: Part[];
  /** How often it repeats each id. */
  repeats?: Map<string, number>;
  weight: number;
  cost?: number;
  /** Its depth while its cost is summed. */
  summing?: number;
}

interface Open {
  part: Part;
  /** Ids that the elements in it are painted with too. */
  inherited: readonly string[];
}

// A primitive of a filter works on all pixels of its region, and browsers hold a gradient's colors ready.
const FILTER_WEIGHT = 100;
// Browsers sort the lines that meet a row of pixels: 30,000 take five seconds a row, even of a picture of a few pixels, and 10,000
// half a second.
const crossingWeight = (crossed: number) => crossed ** 2 / 2000;
const NOT_DRAWN = /^(?:linearGradient|radialGradient|stop)$/;
const MOST_DEPTH = 1000;
const MOST_INHERITED = 16;
const MOST_VISITS = 2_000_000;
const MOST_IDS = 200_000;

/**
 * Estimates how many elements a browser draws for an SVG, which repeats parts by `use`, patterns, masks, markers and filters, also
 * within each other: a few lines can make billions. Infinity for one nested too deeply. `costOfPicture` does so with an SVG in a
 * data URL.
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
      const { ids, inherited } = repeatedBy(reading, outer.inherited, sheet);
      for (const id of ids) {
        part.repeats ??= new Map();
        part.repeats.set(id, (part.repeats.get(id) ?? 0) + 1);
      }
      if (!closed) open.push({ part, inherited });
      repeats += ids.size;
      const few = inherited.length <= MOST_INHERITED && repeats <= MOST_VISITS && byId.size <= MOST_IDS;
      return few && open.length <= MOST_DEPTH;
    },
    onEnd() {
      if (open.length > 1) open.pop();
    },
  });
  return whole ? sum(root, byId) : Number.POSITIVE_INFINITY;
}

// An element without an id cannot be repeated but with what it is in.
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

function repeatedBy({ name, names, ids, painted }: Reading, outer: readonly string[], { rules }: Sheet) {
  // A link to a part draws nothing.
  const repeated = new Set([...(name === "a" ? [] : ids), ...outer]);
  const own = new Set(painted);
  for (const each of names) {
    const rule = rules.get(each);
    for (const id of rule?.ids ?? []) repeated.add(id);
    for (const id of rule?.painted ?? []) own.add(id);
  }
  return { ids: repeated, inherited: own.size > 0 ? [...new Set([...outer, ...own])] : outer };
}

// What contains itself is not drawn there, so that its cost depends on where it is asked for.
function sum(root: Part, byId: ReadonlyMap<string, readonly Part[]>): number {
  let visits = 0;
  function visit(part: Part, depth: number): { cost: number; within: number } {
    if (depth > MOST_DEPTH || ++visits > MOST_VISITS)
      return { cost: Number.POSITIVE_INFINITY, within: depth };
    if (part.cost !== undefined) return { cost: part.cost, within: depth };
    if (part.summing !== undefined) return { cost: 0, within: part.summing };
    part.summing = depth;
    let { weight: cost } = part;
    let within = depth;
    const take = (each: Part, times: number): number => {
      const found = visit(each, depth + 1);
      within = Math.min(within, found.within);
      return found.cost * times;
    };
    for (const each of part.children ?? []) cost += take(each, 1);
    for (const [id, times] of part.repeats ?? []) {
      // Which of those with the same id is meant differs between browsers.
      const same = (byId.get(id) ?? []).filter((each) => each !== part);
      cost += same.reduce((most, each) => Math.max(most, take(each, times)), 0);
    }
    delete part.summing;
    if (within >= depth) part.cost = cost;
    return { cost, within: Math.min(within, depth) };
  }
  return visit(root, 0).cost;
}

/** What a start tag names. Ids are in the form that `keyOf` returns. */
interface Reading {
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
interface Sheet {
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
function scan(text: string, start: number, reader: Reader): boolean {
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
function unescaped(value: string): string {
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
function readSheets(text: string, start: number): Sheet | null {
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

/** How many numbers a segment of path data has, by its command. */
const NUMBERS = { M: 2, L: 2, T: 2, H: 1, V: 1, S: 4, Q: 4, C: 6, A: 7, Z: 0 } as const;
const COMMAND = /([mlhvcsqtaz])([^mlhvcsqtaz]*)/gi;
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/gi;
// No shape of fewer letters is slow.
const LEAST_LETTERS = 10_000;

/**
 * Estimates how many lines of a shape a straight line through it meets: the way along its points, up and down or to and fro, divided
 * by its extent. Takes path data, a list of points, and style sheets with a `path()`.
 */
function crossingsOf(text: string): number {
  if (text.length < LEAST_LETTERS) return 0;
  const paths = [...text.matchAll(/\bpath\(([^)]*)/g)].map(([, path = ""]) => path);
  // Neither path data nor points have a colon; data URLs and declarations do.
  const shapes = paths.length > 0 || text.includes(":") ? paths : [text];
  return shapes.reduce((most, shape) => Math.max(most, crossings(shape)), 0);
}

interface Axis {
  at: number;
  start: number;
  way: number;
  least: number;
  most: number;
}

const axis = (): Axis => ({ at: 0, start: 0, way: 0, least: Number.POSITIVE_INFINITY, most: -Infinity });

function crossings(shape: string): number {
  const [across, down] = [axis(), axis()];
  // Points without a command are those of a polygon.
  for (const [, command = "", given = ""] of `L${shape}`.matchAll(COMMAND)) {
    const letter = command.toUpperCase() as keyof typeof NUMBERS;
    const numbers = Array.from(given.matchAll(NUMBER), ([number]) => Number(number));
    if (letter === "Z") for (const each of [across, down]) go(each, each.start);
    const size = NUMBERS[letter];
    for (let from = 0; size > 0 && from + size <= numbers.length; from += size) {
      const isMove = letter === "M" && from === 0;
      const [x, y] = command === letter ? [0, 0] : [across.at, down.at];
      // Of an arc, the last two are its end.
      for (let index = letter === "A" ? 5 : 0; index < size; index += 2) {
        const [first = 0, second = 0] = [numbers[from + index], numbers[from + index + 1]];
        if (letter !== "V") go(across, x + first, isMove);
        if (letter === "V") go(down, y + first);
        else if (letter !== "H") go(down, y + second, isMove);
      }
    }
  }
  return Math.max(...[across, down].map(({ way, least, most }) => (most > least ? way / (most - least) : 0)));
}

function go(axis: Axis, to: number, isMove = false): void {
  if (isMove) axis.start = to;
  else axis.way += Math.abs(to - axis.at);
  axis.at = to;
  axis.least = Math.min(axis.least, to);
  axis.most = Math.max(axis.most, to);
}
