import type { Item } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { Icon } from "../ui/icon.tsx";
import { faultDetail, faultWords } from "../words/fault-words.ts";
import { useWorkbench } from "../workbench.ts";

// What another place may well be able to do.
const ELSEWHERE: ReadonlySet<string> = new Set([
  "encoder_unavailable",
  "out_of_memory",
  "storage_full",
  "input_unreachable",
]);

/** What went wrong with an item: in plain words, in those of whoever failed, and what to do next. */
export function FaultLine({
  item,
  isEdited,
}: {
  item: Item;
  /** The options are open, and say themselves what is wrong with them. */
  isEdited: boolean;
}) {
  const { queue, edge } = useWorkbench();
  const wrong = stateOf(item) === "ready" && !isEdited ? item.wishes.fault : null;
  const fault = item.fault ?? (item.task?.status === "failed" ? item.task.error : null) ?? wrong;
  if (!fault || item.waiting) return null;
  const { title, todo } = faultWords(fault.kind, typeof item.input !== "string");
  const connection = edge.connection.value;
  const canMove =
    connection !== null &&
    item.wishes.place === "device" &&
    ELSEWHERE.has(fault.kind) &&
    // What is not looked into is read there by its address alone.
    (stateOf(item) === "failed" || typeof item.input === "string");
  return (
    <div class="notice bad">
      <Icon name="fault" />
      <div class="stack">
        <p>
          <strong>{title}</strong> {todo}
        </p>
        <p class="said small">{faultDetail(fault)}</p>
        {canMove && (
          <div class="row">
            <button type="button" onClick={() => void queue.sendToEdge(item.id)}>
              <Icon name="edge" />
              Send to the edge
            </button>
            <span class="soft small">
              It then leaves this device for {URL.parse(connection.base_url)?.host}.
            </span>
          </div>
        )}
      </div>
    </div>
  );
}
