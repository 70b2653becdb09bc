import { useSignal } from "@preact/signals";
import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../ui/icon.tsx";
import "./record-table.css";

/** A column of a {@link RecordTable}: its title, and what it shows of a record. */
export interface Column<T> {
  title: string;
  cell: (record: T) => ComponentChildren;
  wide?: boolean;
}

/** Observes the row of a record; returns a function that stops. */
export type Observe = (id: string, row: Element) => () => void;

export interface RecordTableProps<T> {
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
export function RecordTable<T extends { id: string }>({
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
