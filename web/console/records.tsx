import { type ReadonlySignal, signal, useSignal } from "@preact/signals";
import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ListOptions, Page } from "../../src/index.ts";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import type { ServiceFault } from "./service.ts";
import * as strings from "./strings.ts";

export interface ListRecord {
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

const PAGE_SIZE = 20;
const MAX_RECORDS = 100;

/**
 * Creates a {@link Paged} on top of a function that fetches a page. Changes by `put` and `drop` during a request take
 * precedence over its response.
 */
export function createPaged<T extends ListRecord>(
  list: (query: Pick<ListOptions, "limit" | "after">) => Promise<Page<T>>,
  explain: (thrown: unknown) => ServiceFault,
): Paged<T> {
  const records = signal<readonly T[] | null>(null);
  const more = signal(false);
  const busy = signal(false);
  const fault = signal<ServiceFault | null>(null);
  const dropped = new Set<string>();
  const put_at = new Map<string, number>();
  let changes = 0;
  let refreshing: Promise<void> | null = null;

  async function fetchPage(
    query: Pick<ListOptions, "limit" | "after">,
    apply: (page: Page<T>) => void,
  ): Promise<void> {
    try {
      const page = await list(query);
      apply({ ...page, records: page.records.filter(({ id }) => !dropped.has(id)) });
      fault.value = null;
    } catch (thrown) {
      fault.value = explain(thrown);
    }
  }

  async function refresh(): Promise<void> {
    const before = changes;
    const limit = Math.min(MAX_RECORDS, Math.max(PAGE_SIZE, records.value?.length ?? 0));
    await fetchPage({ limit }, (page) => {
      const current = records.value ?? [];
      const last = page.records.at(-1)?.id ?? "";
      // Ids sort by time; records older than the last one in the response did not fit on the page.
      const older = page.more ? current.filter(({ id }) => id < last) : [];
      const isNew = ({ id }: T) =>
        (put_at.get(id) ?? 0) > before && !page.records.some((each) => each.id === id);
      records.value = [
        ...current.filter(isNew),
        ...page.records.map((each) => newest(each, current)),
        ...older,
      ];
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
      await fetchPage({ limit: PAGE_SIZE, after: last.id }, (page) => {
        const current = records.value ?? [];
        const ids = new Set(current.map(({ id }) => id));
        records.value = [...current, ...page.records.filter(({ id }) => !ids.has(id))];
        more.value = page.more;
      });
      busy.value = false;
    },
    put(record) {
      const current = records.value ?? [];
      put_at.set(record.id, ++changes);
      const exists = current.some(({ id }) => id === record.id);
      records.value = exists
        ? current.map((each) => (each.id === record.id ? newest(record, current) : each))
        : [record, ...current];
    },
    drop(id) {
      dropped.add(id);
      records.value = records.value?.filter((each) => each.id !== id) ?? null;
    },
  };
}

function newest<T extends ListRecord>(record: T, current: readonly T[]): T {
  const before = current.find(({ id }) => id === record.id);
  return before && (before.updated_at ?? 0) > (record.updated_at ?? 0) ? before : record;
}

/** A list of the service under its title: a toolbar, the rows, and a button that loads older ones. */
export function Records<T extends ListRecord>({
  title,
  isPart = false,
  bar,
  add,
  list,
  empty,
  children,
  ...table
}: {
  title: string;
  /** Whether it is one of several lists of a view, so that its title must be visible. */
  isPart?: boolean;
  bar?: ComponentChildren;
  add?: { label: string; onClick: () => void };
  list: Paged<T>;
  /** The text of an empty list: what would be here, and what to do. */
  empty: ComponentChildren;
  /** Content below the list, and dialogs. */
  children?: ComponentChildren;
} & Omit<RecordTableProps<T>, "caption" | "records">) {
  const records = list.records.value;
  const fault = list.fault.value;
  return (
    <section class={isPart ? "stack tight" : "stack"} aria-label={title}>
      {!isPart && <h2 class="visually-hidden">{title}</h2>}
      <div class="row bar">
        {isPart && <h2>{title}</h2>}
        {bar}
        {add && (
          <button type="button" class="primary" onClick={add.onClick}>
            <Icon name="add" />
            {add.label}
          </button>
        )}
      </div>
      {fault && (
        <Notice tone="bad">
          {fault.message}{" "}
          {fault.kind !== "forbidden" && (
            <button type="button" onClick={() => void list.refresh()}>
              {strings.tryAgain}
            </button>
          )}
        </Notice>
      )}
      {!records && !fault && (
        <p class="soft" role="status">
          {strings.loading}
        </p>
      )}
      {records?.length === 0 && <div class="empty frame">{empty}</div>}
      {records && records.length > 0 && (
        <RecordTable caption={strings.newestFirst({ title })} records={records} {...table} />
      )}
      {list.more.value && (
        <p class="row center">
          <button type="button" aria-disabled={list.busy.value} onClick={() => void list.next()}>
            {list.busy.value ? strings.loading : strings.loadMore}
          </button>
        </p>
      )}
      {children}
    </section>
  );
}

/** A column of a {@link RecordTable}: its title, and what it shows of a record. */
export interface Column<T> {
  title: string;
  cell: (record: T) => ComponentChildren;
  wide?: boolean;
}

/** Observes the row of a record; returns a function that stops. */
export type Observe = (id: string, row: Element) => () => void;

interface RecordTableProps<T> {
  caption: string;
  columns: readonly Column<T>[];
  records: readonly T[];
  /** Names a record for screen readers. */
  nameOf: (record: T) => string;
  details?: (record: T) => ComponentChildren;
  actions?: (record: T) => ComponentChildren;
  /** Called with each row while it exists; returns a function that stops. */
  observe?: Observe | undefined;
}

function RecordTable<T extends { id: string }>({
  caption,
  columns,
  records,
  nameOf,
  details,
  actions,
  observe,
}: RecordTableProps<T>) {
  const open = useSignal<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => {
    const next = new Set(open.value);
    if (!next.delete(id)) next.add(id);
    open.value = next;
  };
  const width = columns.length + (details ? 1 : 0) + (actions ? 1 : 0);
  return (
    <table class="records">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {details && (
            <th scope="col">
              <span class="visually-hidden">{strings.details}</span>
            </th>
          )}
          {columns.map(({ title, wide }) => (
            <th key={title} scope="col" class={wide ? "wide" : undefined}>
              {title}
            </th>
          ))}
          {actions && (
            <th scope="col">
              <span class="visually-hidden">{strings.actions}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {records.map((record) => {
          const { id } = record;
          const is_open = open.value.has(id);
          return (
            <Fragment key={id}>
              <Row id={id} observe={observe}>
                {details && (
                  <td class="opener">
                    <button
                      type="button"
                      class="quiet icon"
                      aria-expanded={is_open}
                      aria-label={strings.detailsOf({ name: nameOf(record) })}
                      onClick={() => toggle(id)}
                    >
                      <Icon name="chevron" />
                    </button>
                  </td>
                )}
                {columns.map(({ title, cell }) => (
                  <td key={title} data-label={title}>
                    {cell(record)}
                  </td>
                ))}
                {actions && <td class="actions">{actions(record)}</td>}
              </Row>
              {details && is_open && (
                <tr class="details">
                  <td colSpan={width}>{details(record)}</td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

function Row({
  id,
  observe,
  children,
}: {
  id: string;
  observe: Observe | undefined;
  children: ComponentChildren;
}) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => (row.current ? observe?.(id, row.current) : undefined), [id, observe]);
  return (
    <tr ref={row} data-id={id}>
      {children}
    </tr>
  );
}
