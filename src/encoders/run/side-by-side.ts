import { RunOver } from "../../core/pipeline.ts";

/**
 * Works on all items, at most `limit` at once, taking them up in their order, and gives the results in that order. When one fails
 * no other is taken up, `stop` is called so that those under way end too, and when they have ended it rejects with what failed first.
 */
export async function sideBySide<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
  stop: () => void,
): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < items.length && failures.length === 0; index = next++) {
      try {
        results[index] = await work(items[index] as T);
      } catch (thrown) {
        failures.push(thrown);
        stop();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(Math.max(1, limit), items.length) }, lane));
  if (failures.length === 0) return results;
  // Those that were stopped did not fail themselves; which one comes first is chance after a restart.
  throw failures.find((thrown) => !(thrown instanceof RunOver)) ?? failures[0];
}
