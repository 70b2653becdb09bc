import type { ComponentChildren } from "preact";
import { Notice } from "../../ui/notice.tsx";
import type { Listed, Paged } from "./paged.ts";

/** A list as it stands: being asked for, failed, empty, or shown by `children` with what gets older ones. */
export function RecordList<T extends Listed>({
  list,
  empty,
  children,
}: {
  list: Paged<T>;
  /** What is said where there is nothing: what would be here, and what to do. */
  empty: ComponentChildren;
  children: (records: readonly T[]) => ComponentChildren;
}) {
  const records = list.records.value;
  const fault = list.fault.value;
  return (
    <>
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
      {records && records.length > 0 && children(records)}
      {list.more.value && (
        <p class="row center">
          <button type="button" aria-disabled={list.busy.value} onClick={() => void list.next()}>
            {list.busy.value ? "Loading…" : "Load more"}
          </button>
        </p>
      )}
    </>
  );
}
