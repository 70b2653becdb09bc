import { lazy, Suspense } from "preact/compat";
import { Home } from "../home/home.tsx";
import { useWorkbench } from "../workbench.ts";
import "./queue.css";

/** The visitor's files, or what the page is for while there are none. */
export function QueueView() {
  const { queue, address } = useWorkbench();
  const { job } = address.value;
  if (queue.items.value.length === 0) return <Home job={job} />;
  return (
    <Suspense fallback={null}>
      <FileList job={job} />
    </Suspense>
  );
}

const FileList = lazy(async () => ({ default: (await import("./file-list.tsx")).FileList }));
