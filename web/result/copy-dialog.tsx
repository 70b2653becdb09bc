import { useState } from "preact/hooks";
import { maskAttached } from "../queue/attached-files.ts";
import type { Item } from "../queue/item.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { type ApiCall, asCurl, asTypeScript, KEY_PLACEHOLDER } from "./api-call.ts";
import * as strings from "./strings.ts";

/** Shows the API call that does what the page did with an item, for copying. */
export function CopyDialog({ item, onClose }: { item: Item; onClose: () => void }) {
  const { edge, queue } = useWorkbench();
  const job = item.task?.job?.id;
  const others = queue.items.value.filter(({ task }) => job !== undefined && task?.job?.id === job);
  const call: ApiCall = {
    base_url: edge.connection.value?.base_url ?? null,
    url: typeof item.input === "string" ? item.input : null,
    name: item.name,
    outputs: (others.length > 0 ? others : [item]).map(({ task, settings }) => {
      const { kind, options } = task ?? settings;
      return { kind, options: maskAttached(options) };
    }),
  };
  return (
    <Dialog title={strings.copyAsCode} onClose={onClose}>
      <p>
        {others.length > 1 ? strings.sameJobByApi : strings.sameByApi} <code>{KEY_PLACEHOLDER}</code>
        {call.base_url === null && strings.andAddress}.
      </p>
      <Code title="curl" text={asCurl(call)} />
      <Code title="TypeScript" text={asTypeScript(call)} />
    </Dialog>
  );
}

function Code({ title, text }: { title: string; text: string }) {
  const [status, setStatus] = useState("");
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setStatus(strings.copied),
      () => setStatus(strings.copyForbidden),
    );
  return (
    <section class="code" aria-label={title}>
      <div class="row">
        <h3>{title}</h3>
        <span class="small soft" role="status">
          {status}
        </span>
        <button type="button" class="quiet" aria-label={strings.copyCode({ title })} onClick={copy}>
          <Icon name="copy" />
          {strings.copy}
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard too. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </section>
  );
}
