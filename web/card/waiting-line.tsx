import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { LocalFile } from "../../src/browser/index.ts";
import { type Fault, faultOf, type Item } from "../queue/item.ts";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";

export function WaitingLine({ item }: { item: Item }) {
  const { queue } = useWorkbench();
  const chosen = useRef<HTMLInputElement>(null);
  const fault = useSignal<Fault | null>(null);
  const { waiting, id } = item;
  if (!waiting) return null;
  const give = async (file?: LocalFile) => {
    fault.value = null;
    await queue.resume(id, file).catch((thrown: unknown) => {
      fault.value = faultOf(thrown);
    });
  };
  const asks = waiting.reason === "permission";
  return (
    <div class="notice warn">
      <Icon name="folder" />
      <div class="stack">
        <p>
          {asks
            ? `Allow this page to read ${waiting.name} again.`
            : `The page was reloaded, and ${waiting.name} is too large to keep. Choose it again to continue.`}
        </p>
        <div class="row">
          {asks && (
            <button type="button" onClick={() => void give()}>
              Allow reading
            </button>
          )}
          <button type="button" onClick={() => chosen.current?.click()}>
            Choose the file again
          </button>
          <input
            ref={chosen}
            type="file"
            hidden
            aria-label={`File for ${item.name}`}
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? [];
              if (file) void give(file);
              currentTarget.value = "";
            }}
          />
        </div>
        {fault.value && (
          <p class="said small" role="alert">
            {fault.value.message}
          </p>
        )}
      </div>
    </div>
  );
}
