import { useEffect, useRef, useState } from "preact/hooks";
import { isFinished, type Task } from "../../../src/index.ts";
import { wordOf } from "../shared/badge.tsx";
import { placeOf } from "../shared/place.ts";

/** Announces to screen readers which tasks of the list have just ended. */
export function TaskNews({ tasks }: { tasks: readonly Task[] | null }) {
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
