import { lazy, Suspense } from "preact/compat";
import { Home, JobLinks } from "../home/home.tsx";
import * as home from "../home/strings.ts";
import { useWorkbench } from "../workbench.ts";
import { AddFiles } from "./add-files.tsx";
import "./queue.css";

const MAX_EXPANDED = 5;

export function QueueView() {
  const { queue, address } = useWorkbench();
  const items = queue.items.value;
  const { job } = address.value;
  if (items.length === 0) return <Home job={job} />;
  const isMany = items.length > MAX_EXPANDED;
  return (
    <div class={isMany ? "queue many stack" : "queue stack"}>
      <AddFiles large={false} />
      <Suspense fallback={null}>
        <QueueBar job={job} />
        {items.map((item) => (
          <Card key={item.id} item={item} brief={isMany} alone={items.length === 1} />
        ))}
        <JobLinks current={job} title={home.moreJobs} />
      </Suspense>
    </div>
  );
}

const QueueBar = lazy(async () => ({ default: (await import("./queue-bar.tsx")).QueueBar }));
const Card = lazy(async () => ({ default: (await import("../card/card.tsx")).Card }));
