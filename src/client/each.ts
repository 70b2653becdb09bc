import type { EachOptions, ListOptions, Page } from "./client.ts";

const LIMIT = 100;

/** Yields the records of a list, fetching a page at a time; records created or deleted meanwhile neither repeat nor hide others. */
export async function* eachRecord<T extends { id: string }>(
  list: (asked: ListOptions) => Promise<Page<T>>,
  asked: EachOptions = {},
): AsyncGenerator<T, void> {
  const { limit = LIMIT } = asked;
  for (let { after } = asked; ; ) {
    const { records, more } = await list({ ...asked, limit, ...(after !== undefined && { after }) });
    yield* records;
    after = records.at(-1)?.id;
    if (!more || after === undefined) return;
  }
}
