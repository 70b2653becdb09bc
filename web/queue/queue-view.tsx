import { Card } from "../card/card.tsx";
import { useWorkbench } from "../workbench.ts";
import { AddFiles } from "./add/add-files.tsx";
import { QueueBar } from "./queue-bar.tsx";
import "./queue.css";

// Of more files than these, results would push one another away, and most of the page is out of sight.
const MOST_AT_LENGTH = 5;

/** The files of the queue, and where more are added. */
export function QueueView() {
  const { queue } = useWorkbench();
  const items = queue.items.value;
  // Nothing that would be moved away at once is shown before it is known what an earlier visit left.
  if (!queue.loaded.value && items.length === 0) return null;
  const isMany = items.length > MOST_AT_LENGTH;
  return (
    <div class={isMany ? "queue many stack" : "queue stack"}>
      <AddFiles large={items.length === 0} />
      {items.length > 0 && <QueueBar />}
      {items.map((item) => (
        <Card key={item.id} item={item} brief={isMany} />
      ))}
    </div>
  );
}
