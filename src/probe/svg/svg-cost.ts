import { type Reading, readSheets, type Sheet, scan } from "./svg-tags.ts";

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
export function svgCost(text: string, start: number, costOfPicture: (url: string) => number): number {
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
