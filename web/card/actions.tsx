import type { Item } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";

/** The disclosure of an item's options. */
interface OptionsDisclosure {
  open: boolean;
  toggle: () => void;
  /** Id of what is disclosed. */
  id: string;
}

/** What can be done with an item as it stands. */
export function Actions({ item, options }: { item: Item; options: OptionsDisclosure }) {
  const { queue } = useWorkbench();
  const { id, name } = item;
  const state = stateOf(item);
  const runs = state === "queued" || state === "processing" || state === "sending";
  const failed = state === "failed" || state === "cancelled" || state === "unusable";
  return (
    <div class="actions">
      {state === "ready" && (
        <>
          <button
            type="button"
            aria-expanded={options.open}
            aria-controls={options.open ? options.id : undefined}
            onClick={options.toggle}
          >
            <Icon name="options" />
            Options
          </button>
          <button type="button" class="primary" onClick={() => void queue.start([id])}>
            Convert
          </button>
        </>
      )}
      {(runs || (state === "waiting" && item.task)) && (
        <button type="button" onClick={() => void queue.cancel(id)}>
          <Icon name="cancel" />
          Cancel
        </button>
      )}
      {failed && (
        <button type="button" onClick={() => void queue.retry(id)}>
          <Icon name="refresh" />
          Try again
        </button>
      )}
      {(state === "succeeded" || ((state === "failed" || state === "cancelled") && item.source)) && (
        <button type="button" onClick={() => queue.again(id)}>
          <Icon name="copy" />
          Convert anew
        </button>
      )}
      <button
        type="button"
        class="quiet icon"
        aria-label={`Remove ${name}`}
        title="Remove"
        onClick={() => void queue.remove(id)}
      >
        <Icon name="remove" />
      </button>
    </div>
  );
}
