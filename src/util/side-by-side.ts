/**
 * Works on items in their order, at most `limit` at once. After a failure no further item is taken up; `onFailure` hears of it and may end
 * the work under way. Rejects with the first failure, when none is under way any more.
 */
export async function sideBySide<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
  onFailure: (thrown: unknown) => void = () => {},
): Promise<void> {
  const failures: unknown[] = [];
  const left = items[Symbol.iterator]();
  const lane = async () => {
    while (failures.length === 0) {
      const next = left.next();
      if (next.done) return;
      try {
        await work(next.value);
      } catch (thrown) {
        failures.push(thrown);
        onFailure(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, limit) }, lane));
  if (failures.length > 0) throw failures[0];
}
