const PAIRS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };
const CLOSING: ReadonlySet<string> = new Set(Object.values(PAIRS));
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
// LEFT-TO-RIGHT MARK and RIGHT-TO-LEFT MARK.
const MARKS = { L: "\u200e", R: "\u200f" } as const;
type Direction = keyof typeof MARKS;

// UAX 9, BD16.
const MAX_OPEN = 63;

/**
 * Puts direction marks around the paired brackets of lines that mix both directions (UAX 9, N0), because libass pairs brackets only on
 * request, and ffmpeg does not request it. The pieces together are one text.
 */
export function markBrackets(pieces: readonly string[]): string[] {
  const text = pieces.join("");
  if (!RIGHT_TO_LEFT.test(text)) return [...pieces];
  const marks = new Map<number, Direction>();
  let at = 0;
  for (const line of text.split("\n")) {
    for (const [index, direction] of bracketDirections(line)) marks.set(at + index, direction);
    at += line.length + 1;
  }
  let start = 0;
  return pieces.map((piece) => {
    const from = start;
    start += piece.length;
    return piece.replaceAll(/[()[\]{}]/g, (letter, index: number) => {
      const direction = marks.get(from + index);
      return direction ? `${MARKS[direction]}${letter}${MARKS[direction]}` : letter;
    });
  });
}

/** Returns the position and the direction of each paired bracket of a line; without those that rule N0 gives no direction. */
function bracketDirections(line: string): [index: number, direction: Direction][] {
  const strong = strongDirections(line);
  const base = strong.find((each) => each !== null) ?? "L";
  const directions: [number, Direction][] = [];
  // Pairs are resolved in the order of their opening brackets, and count as letters for later pairs.
  for (const [open, close] of pairsOf(line)) {
    const inside = new Set(strong.slice(open + 1, close));
    const other = base === "L" ? "R" : "L";
    if (!inside.has("L") && !inside.has("R")) continue;
    let before = open - 1;
    while (strong[before] === null) before--;
    const direction = !inside.has(base) && strong[before] === other ? other : base;
    strong[open] = direction;
    strong[close] = direction;
    directions.push([open, direction], [close, direction]);
  }
  return directions;
}

/** Returns the direction of each character of a line: a digit has that of the letter before it, and signs have none. */
function strongDirections(line: string): (Direction | null)[] {
  let last: Direction | null = null;
  return Array.from({ length: line.length }, (_, at) => {
    const letter = String.fromCodePoint(line.codePointAt(at) ?? 0);
    if (/\p{Nd}/u.test(letter)) return last ?? null;
    if (letter === MARKS.L || letter === MARKS.R) last = letter === MARKS.L ? "L" : "R";
    else if (/\p{L}/u.test(letter)) last = RIGHT_TO_LEFT.test(letter) ? "R" : "L";
    else return null;
    return last;
  });
}

function pairsOf(line: string): [open: number, close: number][] {
  const pairs: [number, number][] = [];
  const open: { at: number; close: string }[] = [];
  for (let at = 0; at < line.length; at++) {
    const letter = line.charAt(at);
    const close = PAIRS[letter];
    if (close !== undefined) {
      if (open.length === MAX_OPEN) return pairs;
      open.push({ at, close });
    } else if (CLOSING.has(letter)) {
      // Brackets that were opened inside this pair have no partner.
      const index = open.findLastIndex((each) => each.close === letter);
      const [pair] = open.splice(index < 0 ? open.length : index);
      if (pair) pairs.push([pair.at, at]);
    }
  }
  return pairs.sort(([one], [other]) => one - other);
}
