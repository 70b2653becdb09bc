import { useState } from "preact/hooks";
import type { Item } from "../queue/item.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { type ApiCall, asCurl, asTypeScript, KEY_PLACEHOLDER } from "./api-call.ts";

/** Shows the API call that does what the page did with an item, for copying. */
export function CopyDialog({ item, onClose }: { item: Item; onClose: () => void }) {
  const { edge, queue } = useWorkbench();
  const job = item.task?.job?.id;
  const others = queue.items.value.filter(({ task }) => job !== undefined && task?.job?.id === job);
  const call: ApiCall = {
    base_url: edge.connection.value?.base_url ?? null,
    url: typeof item.input === "string" ? item.input : null,
    name: item.name,
    outputs: (others.length > 0 ? others : [item]).map(({ task, wishes }) => task ?? wishes),
  };
  return (
    <Dialog title="Copy as code" onClose={onClose}>
      <p>
        The same by the API of a service{others.length > 1 && ", with all outputs of this file"}. Put your own
        key in the place of <code>{KEY_PLACEHOLDER}</code>
        {call.base_url === null && ", and the address of your service"}.
      </p>
      <Code title="curl" text={asCurl(call)} />
      <Code title="TypeScript" text={asTypeScript(call)} />
    </Dialog>
  );
}

function Code({ title, text }: { title: string; text: string }) {
  const [said, setSaid] = useState("");
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid("Copied"),
      () => setSaid("The browser does not let this page copy. Select the text and copy it."),
    );
  return (
    <section class="code" aria-label={title}>
      <div class="row">
        <h3>{title}</h3>
        <span class="small soft" role="status">
          {said}
        </span>
        <button type="button" class="quiet" aria-label={`Copy ${title}`} onClick={copy}>
          <Icon name="copy" />
          Copy
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard too. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </section>
  );
}
