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
export function crossingsOf(text: string): number {
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
