import type { Item } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { Icon } from "../ui/icon.tsx";
import { faultDetail, faultWords } from "../words/fault-words.ts";
import { useWorkbench } from "../workbench.ts";

// Failures that another place may avoid.
const ELSEWHERE: ReadonlySet<string> = new Set([
  "encoder_unavailable",
  "out_of_memory",
  "storage_full",
  "input_unreachable",
]);

/** What went wrong with an item: in plain words, in those of the source of the error, and what to do next. */
export function FaultLine({
  item,
  isEdited,
}: {
  item: Item;
  /** Whether the options are open, which then show their own errors. */
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
    // An item without a source is read by its URL alone.
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
