import { Card } from "../card/card.tsx";
import { useWorkbench } from "../workbench.ts";
import { AddFiles } from "./add/add-files.tsx";
import { QueueBar } from "./queue-bar.tsx";
import "./queue.css";

// With more items than these, open results would push each other out of sight.
const MOST_AT_LENGTH = 5;

export function QueueView() {
  const { queue } = useWorkbench();
  const items = queue.items.value;
  // Show nothing that would move away once the items of an earlier visit are known.
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
