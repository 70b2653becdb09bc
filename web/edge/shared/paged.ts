import { type ReadonlySignal, signal } from "@preact/signals";
import type { ListOptions, Page } from "../../../src/index.ts";
import type { ServiceFault } from "./service.ts";

/** What a list is of. */
export interface Listed {
  id: string;
  /** Milliseconds since the Unix epoch. */
  updated_at?: number;
}

/** A list of a service, the newest first, as far as it was asked for. */
export interface Paged<T> {
  /** Null before the first answer. */
  readonly records: ReadonlySignal<readonly T[] | null>;
  /** True when there are older ones. */
  readonly more: ReadonlySignal<boolean>;
  /** True while older ones are asked for. */
  readonly busy: ReadonlySignal<boolean>;
  /** What the last request failed by; null when it did not. */
  readonly fault: ReadonlySignal<ServiceFault | null>;
  /** Asks again for what is shown, up to a hundred; never rejects. */
  refresh(): Promise<void>;
  /** Asks for older ones; never rejects. */
  next(): Promise<void>;
  /** Takes a record as it is now, from wherever that is known; an unknown one comes first. */
  put(record: T): void;
  /** Takes a record out that is gone. */
  drop(id: string): void;
}

const PAGE = 20;
const MOST = 100;

/** Builds a {@link Paged} over a way to ask for a page. What was put or dropped while an answer was under way is kept so. */
export function createPaged<T extends Listed>(
  list: (asked: Pick<ListOptions, "limit" | "after">) => Promise<Page<T>>,
  tell: (thrown: unknown) => ServiceFault,
): Paged<T> {
  const records = signal<readonly T[] | null>(null);
  const more = signal(false);
  const busy = signal(false);
  const fault = signal<ServiceFault | null>(null);
  const dropped = new Set<string>();
  const put_at = new Map<string, number>();
  let changes = 0;
  let refreshing: Promise<void> | null = null;

  async function ask(
    asked: Pick<ListOptions, "limit" | "after">,
    take: (page: Page<T>) => void,
  ): Promise<void> {
    try {
      const page = await list(asked);
      take({ ...page, records: page.records.filter(({ id }) => !dropped.has(id)) });
      fault.value = null;
    } catch (thrown) {
      fault.value = tell(thrown);
    }
  }

  async function refresh(): Promise<void> {
    const before = changes;
    const limit = Math.min(MOST, Math.max(PAGE, records.value?.length ?? 0));
    await ask({ limit }, (page) => {
      const known = records.value ?? [];
      const last = page.records.at(-1)?.id ?? "";
      // Ids sort by time: beyond the last one of the answer are those that it had no room for.
      const older = page.more ? known.filter(({ id }) => id < last) : [];
      const isNew = ({ id }: T) =>
        (put_at.get(id) ?? 0) > before && !page.records.some((each) => each.id === id);
      records.value = [...known.filter(isNew), ...page.records.map((each) => newest(each, known)), ...older];
      if (older.length === 0) more.value = page.more;
    });
  }

  return {
    records,
    more,
    busy,
    fault,
    refresh() {
      refreshing ??= refresh().finally(() => {
        refreshing = null;
      });
      return refreshing;
    },
    async next() {
      const last = records.value?.at(-1);
      if (!last || busy.value) return;
      busy.value = true;
      await ask({ limit: PAGE, after: last.id }, (page) => {
        const known = records.value ?? [];
        const ids = new Set(known.map(({ id }) => id));
        records.value = [...known, ...page.records.filter(({ id }) => !ids.has(id))];
        more.value = page.more;
      });
      busy.value = false;
    },
    put(record) {
      const known = records.value ?? [];
      put_at.set(record.id, ++changes);
      const there = known.some(({ id }) => id === record.id);
      records.value = there
        ? known.map((each) => (each.id === record.id ? newest(record, known) : each))
        : [record, ...known];
    },
    drop(id) {
      dropped.add(id);
      records.value = records.value?.filter((each) => each.id !== id) ?? null;
    },
  };
}

// An answer may be older than what was told meanwhile.
function newest<T extends Listed>(record: T, known: readonly T[]): T {
  const before = known.find(({ id }) => id === record.id);
  return before && (before.updated_at ?? 0) > (record.updated_at ?? 0) ? before : record;
}
