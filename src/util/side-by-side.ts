/**
 * Works on items in order, at most `limit` at once. After a failure it starts no further item; `onFailure` may stop the work
 * in progress. Rejects with the first failure once no work is in progress. Not p-map, which rejects at once, while other items
 * still write what the caller then removes (test/util/side-by-side).
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

/** Works on all items at once, on each even where another fails; then rejects with the first failure. */
export async function everyOne<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const ends = await Promise.allSettled(items.map(work));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
}
