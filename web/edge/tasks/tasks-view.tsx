import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isFinished, type Task } from "../../../src/index.ts";
import { createPaged } from "../shared/paged.ts";
import { Records } from "../shared/records.tsx";
import { useService } from "../shared/service.ts";
import { usePolling, whileVisible } from "../shared/while-visible.ts";
import { createFollower } from "./follow-tasks.ts";
import { NewTask } from "./new-task.tsx";
import { DeleteTask, TaskActions } from "./task-actions.tsx";
import { taskColumns } from "./task-columns.tsx";
import { TaskDetails } from "./task-details.tsx";
import { type TaskFilter, TaskFilters } from "./task-filters.tsx";
import "./tasks.css";
import { wordOf } from "../shared/badge.tsx";
import { placeOf } from "../shared/place.ts";
import type { Observe } from "../shared/record-table.tsx";

const POLL_MS = 3000;

export function TasksView() {
  const { client, tell } = useService();
  const filter = useSignal<TaskFilter>({ status: "", kind: "" });
  const dialog = useSignal<"new" | Task | null>(null);
  const { status, kind } = filter.value;
  const [list, follower] = useMemo(() => {
    const wanted = { ...(status && { status }), ...(kind && { kind }) };
    const list = createPaged<Task>((asked) => client.tasks.list({ ...asked, ...wanted }), tell);
    return [list, createFollower(client, list)] as const;
  }, [client, tell, status, kind]);
  usePolling(list.refresh, POLL_MS);
  useEffect(() => whileVisible(follower.run), [follower]);
  const observe = useInView(follower.see);
  const columns = taskColumns((id) => follower.paces.value.get(id));
  const close = () => {
    dialog.value = null;
  };

  return (
    <Records
      title="Tasks"
      bar={<TaskFilters filter={filter} />}
      add={{
        label: "New task",
        onClick: () => {
          dialog.value = "new";
        },
      }}
      list={list}
      empty={
        status || kind
          ? "No tasks match these filters."
          : "There are no tasks yet. Create one from a URL with “New task”, or send a file here from the Workbench."
      }
      columns={columns}
      nameOf={({ input }) => placeOf(input).name}
      observe={observe}
      details={(task) => <TaskDetails task={task} />}
      actions={(task) => (
        <TaskActions
          task={task}
          put={list.put}
          onDelete={() => {
            dialog.value = task;
          }}
        />
      )}
    >
      <TaskNews tasks={list.records.value} />
      <p class="soft small">
        Steps that were made alone are not listed here; the API has them at GET /steps.
      </p>
      {dialog.value === "new" && <NewTask onMade={list.put} onClose={close} />}
      {dialog.value && dialog.value !== "new" && (
        <DeleteTask task={dialog.value} onGone={list.drop} onClose={close} />
      )}
    </Records>
  );
}

/** Calls `see` when rows of a table scroll into view or out of it. */
function useInView(see: (id: string, seen: boolean) => void): Observe {
  const observer = useMemo(
    () =>
      new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries)
          see(target.getAttribute("data-id") ?? "", isIntersecting);
      }),
    [see],
  );
  useEffect(() => () => observer.disconnect(), [observer]);
  return useCallback(
    (id, row) => {
      observer.observe(row);
      return () => {
        observer.unobserve(row);
        see(id, false);
      };
    },
    [observer, see],
  );
}

/** Announces to screen readers which tasks of the list have just ended. */
function TaskNews({ tasks }: { tasks: readonly Task[] | null }) {
  const [news, setNews] = useState("");
  const unfinished = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const ended = tasks?.filter((task) => isFinished(task) && unfinished.current.has(task.id)) ?? [];
    unfinished.current = new Set(tasks?.filter((task) => !isFinished(task)).map(({ id }) => id));
    if (ended.length > 0)
      setNews(ended.map(({ input, status }) => `${placeOf(input).name}: ${wordOf(status)}`).join(", "));
  }, [tasks]);
  return (
    <p class="visually-hidden" role="status">
      {news}
    </p>
  );
}
