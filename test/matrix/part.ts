/**
 * Returns all cells for `full`, or every 200th for a part such as `3/200`. The parts are similar, as neighboring cells
 * differ only in the last options. Throws an Error for any other text.
 */
export function pickPart<T>(cells: readonly T[], part: string): readonly T[] {
  if (part === "full") return cells;
  const [, number = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(part) ?? []).map(Number);
  if (number < 1 || number > of) {
    throw new Error(
      `FRAMEWRIGHT_MATRIX must be "full" or a part such as "3/200", not ${JSON.stringify(part)}.`,
    );
  }
  return cells.filter((_, index) => index % of === number - 1);
}
