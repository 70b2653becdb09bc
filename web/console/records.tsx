import { useSignal } from "@preact/signals";
import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import type { Listed, Paged } from "./paged.ts";
import "./records.css";

/** A list of the service under its title: a toolbar, the rows, and a button that loads older ones. */
export function Records<T extends Listed>({
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
              Try again
            </button>
          )}
        </Notice>
      )}
      {!records && !fault && (
        <p class="soft" role="status">
          Loading…
        </p>
      )}
      {records?.length === 0 && <div class="empty">{empty}</div>}
      {records && records.length > 0 && (
        <RecordTable caption={`${title}, the newest first`} records={records} {...table} />
      )}
      {list.more.value && (
        <p class="row center">
          <button type="button" aria-disabled={list.busy.value} onClick={() => void list.next()}>
            {list.busy.value ? "Loading…" : "Load more"}
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

/** Shows records as a table, or as cards on a narrow screen. With `details`, rows can be expanded. */
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
  const turn = (id: string) => {
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
              <span class="visually-hidden">Details</span>
            </th>
          )}
          {columns.map(({ title, wide }) => (
            <th key={title} scope="col" class={wide ? "wide" : undefined}>
              {title}
            </th>
          ))}
          {actions && (
            <th scope="col">
              <span class="visually-hidden">Actions</span>
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
                      aria-label={`Details of ${nameOf(record)}`}
                      onClick={() => turn(id)}
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
