/** A value of a dimension; null leaves the option out. */
export type Value = string | number | null;

/** The values of each dimension by name. */
export type Dimensions = Readonly<Record<string, readonly Value[]>>;

/** One choice of a value for every dimension. */
export type Row<D extends Dimensions> = { readonly [Name in keyof D]: D[Name][number] };

/** Returns whether a row, complete or partial, is already invalid. */
export type Forbids<D extends Dimensions> = (row: Partial<Row<D>>) => boolean;

/** Two values of two dimensions, as indexes. */
interface Pair {
  one: readonly [dimension: number, value: number];
  other: readonly [dimension: number, value: number];
}

// The index of the chosen value per dimension; undefined if still open.
type Choice = (number | undefined)[];

/**
 * Returns a small list of rows that covers every pair of values of two dimensions at least once, except pairs that no
 * allowed row contains. Deterministic.
 */
export function coverPairs<D extends Dimensions>(dimensions: D, forbids: Forbids<D>): Row<D>[] {
  const table = createTable(dimensions, forbids);
  const open = new Map<string, Pair>();
  for (const pair of table.pairs()) {
    if (table.complete(choose(table.empty(), pair))) open.set(keyOf(pair), pair);
  }
  const used = table.sizes.map((size) => new Array<number>(size).fill(0));
  const rows: Row<D>[] = [];
  for (let first = open.values().next(); !first.done; first = open.values().next()) {
    const row = grow(first.value);
    for (const pair of pairsOf(row)) open.delete(keyOf(pair));
    for (const [at, value] of row.entries()) {
      const count = used[at];
      if (count) count[value] = (count[value] ?? 0) + 1;
    }
    rows.push(table.toRow(row));
  }
  return rows;

  // Repeatedly chooses the value that covers the most open pairs; among equals, the least used one.
  function grow(pair: Pair): number[] {
    const row = choose(table.empty(), pair);
    for (;;) {
      let best: { at: number; value: number; gain: number; uses: number } | undefined;
      for (const [at, size] of table.sizes.entries()) {
        if (row[at] !== undefined) continue;
        for (let value = 0; value < size; value++) {
          const gain = countOpen(row, at, value);
          const uses = used[at]?.[value] ?? 0;
          if (best && (gain < best.gain || (gain === best.gain && uses >= best.uses))) continue;
          const next = row.with(at, value);
          if (table.complete(next)) best = { at, value, gain, uses };
        }
      }
      if (!best) return row as number[];
      row[best.at] = best.value;
    }
  }

  function countOpen(row: Choice, at: number, value: number): number {
    let count = 0;
    for (const [other, chosen] of row.entries()) {
      if (chosen !== undefined && open.has(keyOf(inOrder([at, value], [other, chosen])))) count++;
    }
    return count;
  }
}

/**
 * Returns a subset of the rows that still covers every pair of facets, chosen greedily and deterministically. `facetsOf`
 * names the facets of a row.
 */
export function thinRows<R>(rows: readonly R[], facetsOf: (row: R) => readonly string[]): R[] {
  const left = rows.map((row) => ({ row, pairs: twosOf(facetsOf(row)) }));
  const open = new Set(left.flatMap(({ pairs }) => pairs));
  const cover: R[] = [];
  while (open.size > 0) {
    const gains = left.map(({ pairs }) => pairs.filter((pair) => open.has(pair)).length);
    const [best] = left.splice(gains.indexOf(Math.max(...gains)), 1);
    if (!best) break;
    for (const pair of best.pairs) open.delete(pair);
    cover.push(best.row);
  }
  return cover;
}

function twosOf(facets: readonly string[]): string[] {
  return facets.flatMap((one, index) => facets.slice(index + 1).map((other) => `${one} ${other}`));
}

/** Yields every allowed row of a table, the last dimension changing fastest. */
export function* wholeProduct<D extends Dimensions>(dimensions: D, forbids: Forbids<D>): Generator<Row<D>> {
  const table = createTable(dimensions, forbids);
  yield* below(0, table.empty());

  function* below(at: number, row: Choice): Generator<Row<D>> {
    const size = table.sizes[at];
    if (size === undefined) return yield table.toRow(row);
    for (let value = 0; value < size; value++) {
      const next = row.with(at, value);
      if (!table.forbidden(next)) yield* below(at + 1, next);
    }
  }
}

function createTable<D extends Dimensions>(dimensions: D, forbids: Forbids<D>) {
  const names = Object.keys(dimensions);
  const values = Object.values(dimensions);
  const sizes = values.map((list) => list.length);
  const toRow = (row: Choice) =>
    Object.fromEntries(
      names.flatMap((name, at) => {
        const chosen = row[at];
        return chosen === undefined ? [] : [[name, values[at]?.[chosen] ?? null]];
      }),
    ) as Row<D>;
  const forbidden = (row: Choice) => forbids(toRow(row));

  // Returns whether the row can be completed to an allowed one.
  function complete(row: Choice): boolean {
    if (forbidden(row)) return false;
    const at = row.indexOf(undefined);
    if (at < 0) return true;
    return Array.from({ length: sizes[at] ?? 0 }, (_, value) => row.with(at, value)).some(complete);
  }

  function* pairs(): Generator<Pair> {
    for (const [a, across] of sizes.entries()) {
      for (const [b, down] of sizes.entries()) {
        if (b <= a) continue;
        for (let x = 0; x < across; x++) {
          for (let y = 0; y < down; y++) yield { one: [a, x], other: [b, y] };
        }
      }
    }
  }

  return { sizes, toRow, forbidden, complete, pairs, empty: (): Choice => names.map(() => undefined) };
}

function choose(row: Choice, { one, other }: Pair): Choice {
  return row.with(one[0], one[1]).with(other[0], other[1]);
}

function* pairsOf(row: readonly number[]): Generator<Pair> {
  for (const [a, x] of row.entries()) {
    for (const [b, y] of row.entries()) if (b > a) yield { one: [a, x], other: [b, y] };
  }
}

function inOrder(one: Pair["one"], other: Pair["other"]): Pair {
  return one[0] < other[0] ? { one, other } : { one: other, other: one };
}

function keyOf({ one, other }: Pair): string {
  return `${one} ${other}`;
}
