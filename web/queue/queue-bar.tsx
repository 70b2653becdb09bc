import { lazy, Suspense } from "preact/compat";
import type { Job } from "../home/jobs.ts";
import * as home from "../home/strings.ts";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import * as strings from "./list-strings.ts";
import { isOver, stateOf, totalsOf } from "./queue.ts";

const TakeAll = lazy(async () => ({ default: (await import("../result/take-all.tsx")).TakeAll }));

/** Says above the list which job new files are set up for. */
function JobLine({ job }: { job: Job }) {
  return (
    <div class="job-line">
      <Icon name={job.icon} size={22} />
      <div>
        <h1>{job.heading}</h1>
        <p class="soft small">{home.forNewFiles}</p>
      </div>
      <a class="button quiet" href="/">
        {home.anyJob}
      </a>
    </div>
  );
}

/** Shows the state of the whole list, and the actions on all of its files. */
export function QueueBar({ job }: { job: Job | null }) {
  const { queue } = useWorkbench();
  const items = queue.items.value;
  const { ready, running, succeeded, over, percent } = totalsOf(items);
  const removeFinished = () => {
    for (const item of items) if (isOver(item)) void queue.remove(item.id);
  };
  return (
    <div class="queue-bar">
      {job ? <JobLine job={job} /> : <h1 class="visually-hidden">{strings.queue}</h1>}
      <p class="numbers">
        {strings.files({ count: items.length })}
        {running > 0 && strings.running({ count: running, percent })}
        {succeeded > 0 && strings.done({ count: succeeded })}
      </p>
      {succeeded > 1 && (
        <Suspense fallback={null}>
          <TakeAll items={items.filter((item) => stateOf(item) === "succeeded")} />
        </Suspense>
      )}
      <div class="row">
        {over > 0 && (
          <button type="button" class="quiet" onClick={removeFinished}>
            {strings.removeFinished}
          </button>
        )}
        {ready > 0 && items.length > 1 && (
          <button type="button" class={ready > 1 ? "primary" : ""} onClick={() => void queue.start()}>
            <Icon name="play" />
            {strings.convertAll({ count: ready })}
          </button>
        )}
      </div>
    </div>
  );
}
