import { lazy, Suspense } from "preact/compat";
import type { Item } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { bytes } from "../words/quantities.ts";
import { useWorkbench } from "../workbench.ts";

const Editor = lazy(async () => ({ default: (await import("../options/editor.tsx")).Editor }));
const Result = lazy(async () => ({ default: (await import("../result/result.tsx")).Result }));

/** One file of the queue: what it is, what it becomes, where and how it stands. */
export function Card({ item }: { item: Item }) {
  const { queue } = useWorkbench();
  const state = stateOf(item);
  return (
    <article class="panel stack" aria-label={item.name}>
      <h2>{item.name}</h2>
      <p class="soft">
        {state} {item.size !== null && bytes(item.size)}
      </p>
      {item.fault && <p>{item.fault.message}</p>}
      {item.task?.error && <p>{item.task.error.message}</p>}
      {state === "processing" && (
        <progress max={100} value={item.pace?.progress ?? 0} aria-label="Progress" />
      )}
      {state === "ready" && (
        <button type="button" class="primary" onClick={() => void queue.start([item.id])}>
          Convert
        </button>
      )}
      <Suspense fallback={null}>
        {state === "ready" && <Editor item={item} />}
        {state === "succeeded" && <Result item={item} />}
      </Suspense>
    </article>
  );
}
