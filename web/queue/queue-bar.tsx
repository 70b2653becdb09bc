import { lazy, Suspense } from "preact/compat";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { isOver, stateOf } from "./queue.ts";
import { totalsOf } from "./totals.ts";

const TakeAll = lazy(async () => ({ default: (await import("../result/take-all.tsx")).TakeAll }));

export function QueueBar() {
  const { queue } = useWorkbench();
  const items = queue.items.value;
  const { ready, running, succeeded, over, percent } = totalsOf(items);
  const removeFinished = () => {
    for (const item of items) if (isOver(item)) void queue.remove(item.id);
  };
  return (
    <div class="queue-bar">
      <h1 class="visually-hidden">Queue</h1>
      <p class="numbers">
        {items.length === 1 ? "1 file" : `${items.length} files`}
        {running > 0 && ` · ${running} running, ${percent} %`}
        {succeeded > 0 && ` · ${succeeded} done`}
      </p>
      {succeeded > 1 && (
        <Suspense fallback={null}>
          <TakeAll items={items.filter((item) => stateOf(item) === "succeeded")} />
        </Suspense>
      )}
      <div class="row">
        {over > 0 && (
          <button type="button" class="quiet" onClick={removeFinished}>
            Remove finished
          </button>
        )}
        {ready > 0 && items.length > 1 && (
          <button type="button" class={ready > 1 ? "primary" : ""} onClick={() => void queue.start()}>
            <Icon name="play" />
            Convert all ({ready})
          </button>
        )}
      </div>
    </div>
  );
}
