import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { MediaInput } from "../../src/index.ts";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { droppedInputs, isTaken, pastedInputs } from "./drop-inputs.ts";

/** Accepts what is dropped or pasted anywhere on the page, and shows a drop target during a drag. */
export function DropAnywhere() {
  const { queue } = useWorkbench();
  const over = useSignal(false);
  useEffect(() => {
    const page = new AbortController();
    const { signal } = page;
    // Moving from an element into a nested one does not leave the page.
    let depth = 0;
    const take = (inputs: readonly MediaInput[]) => {
      queue.add(inputs);
      // The queue shows them.
      if (inputs.length > 0) location.hash = "#/";
    };
    const leave = () => {
      depth = 0;
      over.value = false;
    };
    const enter = (event: DragEvent) => {
      if (!isTaken(event.dataTransfer)) return;
      event.preventDefault();
      depth++;
      over.value = true;
    };
    const move = (event: DragEvent) => {
      if (!isTaken(event.dataTransfer) || isOwnField(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
    };
    const drop = (event: DragEvent) => {
      leave();
      const { dataTransfer } = event;
      if (!dataTransfer || !isTaken(dataTransfer) || event.defaultPrevented || isOwnField(event)) return;
      event.preventDefault();
      void droppedInputs(dataTransfer).then(take);
    };
    const paste = (event: ClipboardEvent) => {
      if (isOwnField(event) || !event.clipboardData) return;
      const inputs = pastedInputs(event.clipboardData);
      if (inputs.length === 0) return;
      event.preventDefault();
      take(inputs);
    };
    addEventListener("dragenter", enter, { signal });
    addEventListener("dragover", move, { signal });
    addEventListener("dragleave", () => --depth <= 0 && leave(), { signal });
    addEventListener("drop", drop, { signal });
    addEventListener("paste", paste, { signal });
    return () => page.abort();
  }, [queue, over]);
  return (
    <div class={over.value ? "drop-sign over" : "drop-sign"} aria-hidden="true">
      <div>
        <Icon name="upload" size={48} />
        Drop to add them
      </div>
    </div>
  );
}

// Text typed or dropped into a field belongs to that field.
function isOwnField(event: Event): boolean {
  const { target } = event;
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}
