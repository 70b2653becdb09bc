import type { Signal } from "@preact/signals";
import { ENCODE_KINDS, type EncodeKind, TASK_STATUSES, type TaskStatus } from "../../../src/index.ts";
import { Field } from "../../ui/field.tsx";
import { wordOf } from "../shared/badge.tsx";
import { KIND_WORDS } from "./task-words.ts";

/** Which tasks to show; an empty string means all. */
export interface TaskFilter {
  status: TaskStatus | "";
  kind: EncodeKind | "";
}

export function TaskFilters({ filter }: { filter: Signal<TaskFilter> }) {
  const set = (change: Partial<TaskFilter>) => {
    filter.value = { ...filter.value, ...change };
  };
  return (
    <div class="filters">
      <Field label="Status">
        {(control) => (
          <select
            {...control}
            value={filter.value.status}
            onChange={({ currentTarget }) => set({ status: currentTarget.value as TaskStatus | "" })}
          >
            <option value="">All</option>
            {TASK_STATUSES.map((status) => (
              <option key={status} value={status}>
                {wordOf(status)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Kind">
        {(control) => (
          <select
            {...control}
            value={filter.value.kind}
            onChange={({ currentTarget }) => set({ kind: currentTarget.value as EncodeKind | "" })}
          >
            <option value="">All</option>
            {ENCODE_KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {KIND_WORDS[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}
