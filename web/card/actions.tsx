import type { Item } from "../queue/item.ts";
import { awaitCopy, isRetryable, stateOf } from "../queue/queue.ts";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";

interface Disclosure {
  shown: boolean;
  toggle: () => void;
  id: string;
}

/** The actions that an item's state allows. */
export function Actions({ item, more }: { item: Item; more: Disclosure }) {
  const { queue } = useWorkbench();
  const { id, name } = item;
  const state = stateOf(item);
  const runs = state === "queued" || state === "processing" || state === "sending";
  const again = (event: MouseEvent) => {
    if (!isMeant(event)) return;
    awaitCopy(item);
    queue.again(id);
  };
  return (
    <div class="actions">
      {(state === "ready" || state === "succeeded") && (
        <button
          key="more"
          type="button"
          aria-expanded={more.shown}
          aria-controls={more.shown ? more.id : undefined}
          onClick={more.toggle}
        >
          <Icon name={state === "ready" ? "options" : "chevron"} />
          {state === "ready" ? "Options" : "Result"}
        </button>
      )}
      {state === "ready" && (
        <button
          key="start"
          type="button"
          class="primary"
          disabled={Boolean(item.wishes.fault)}
          title={item.wishes.fault?.message}
          onClick={() => void queue.start([id])}
        >
          Convert
        </button>
      )}
      {(runs || (state === "waiting" && item.task)) && (
        <button key="cancel" type="button" onClick={(event) => isMeant(event) && void queue.cancel(id)}>
          <Icon name="cancel" />
          Cancel
        </button>
      )}
      {isRetryable(item) && (
        <button key="retry" type="button" onClick={(event) => isMeant(event) && void queue.retry(id)}>
          <Icon name="refresh" />
          Try again
        </button>
      )}
      {(state === "succeeded" || ((state === "failed" || state === "cancelled") && item.source)) && (
        <button key="again" type="button" onClick={again}>
          <Icon name="copy" />
          Convert again
        </button>
      )}
      <button
        key="remove"
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

// The second click of a double click lands on whatever replaced the button.
function isMeant({ detail }: MouseEvent): boolean {
  return detail < 2;
}
