import type { ComponentChildren } from "preact";
import { Icon } from "../../ui/icon.tsx";
import { Notice } from "../../ui/notice.tsx";
import type { Listed, Paged } from "./paged.ts";
import { RecordTable, type RecordTableProps } from "./record-table.tsx";

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
