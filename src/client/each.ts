import type { EachOptions, ListOptions, Page } from "./client.ts";

const LIMIT = 100;

/** Gives the records of a list one by one, a page at a time as they are taken; what is created or deleted meanwhile neither repeats nor hides any other. */
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
