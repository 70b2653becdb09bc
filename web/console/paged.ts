import { type ReadonlySignal, signal } from "@preact/signals";
import type { ListOptions, Page } from "../../src/index.ts";
import type { ServiceFault } from "./service.ts";

export interface Listed {
  id: string;
  /** Milliseconds since the Unix epoch. */
  updated_at?: number;
}

/** A service's list, newest first, as far as it has been fetched. */
export interface Paged<T> {
  readonly records: ReadonlySignal<readonly T[] | null>;
  readonly more: ReadonlySignal<boolean>;
  /** Whether older records are being fetched. */
  readonly busy: ReadonlySignal<boolean>;
  /** The error of the last request; null after a success. */
  readonly fault: ReadonlySignal<ServiceFault | null>;
  /** Fetches the shown records again, up to a hundred; never rejects. */
  refresh(): Promise<void>;
  next(): Promise<void>;
  /** Updates a record with a newer version from anywhere; an unknown one goes first. */
  put(record: T): void;
  drop(id: string): void;
}

const PAGE = 20;
const MOST = 100;

/**
 * Creates a {@link Paged} on top of a function that fetches a page. Changes by `put` and `drop` during a request take
 * precedence over its response.
 */
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
      // Ids sort by time: those beyond the last one in the response did not fit on the page.
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

// A response may be older than an update received in the meantime.
function newest<T extends Listed>(record: T, known: readonly T[]): T {
  const before = known.find(({ id }) => id === record.id);
  return before && (before.updated_at ?? 0) > (record.updated_at ?? 0) ? before : record;
}
