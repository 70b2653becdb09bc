import { Card } from "../card/card.tsx";
import { useWorkbench } from "../workbench.ts";

/** The files of the queue, and where more are added. */
export function QueueView() {
  const { queue } = useWorkbench();
  return (
    <div class="stack">
      <label class="panel">
        Add files
        <input
          type="file"
          multiple
          onChange={({ currentTarget }) => {
            queue.add([...(currentTarget.files ?? [])]);
            currentTarget.value = "";
          }}
        />
      </label>
      {queue.items.value.map((item) => (
        <Card key={item.id} item={item} />
      ))}
    </div>
  );
}
