/**
 * Gives the cells of `full`, which are all, or of a part such as `3/200`: every 200th, of which there are 200 parts. The parts
 * are alike, as neighbors differ in the last options alone. Throws an Error for any other text.
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
