import { inParallel as eachInParallel } from "../src/util/async.ts";

/** Works on items in order, at most `limit` at once; returns the results in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  await eachInParallel(items.entries(), limit, async ([index, item]) => {
    results[index] = await work(item, index);
  });
  return results;
}
