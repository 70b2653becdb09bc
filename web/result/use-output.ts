import { useEffect, useState } from "preact/hooks";
import { MediaError, type Output } from "../../src/index.ts";
import type { Fault, Item } from "../queue/item.ts";
import { useWorkbench } from "../workbench.ts";

/** The output of an item: opened, loading, or why it cannot be opened. */
export type OpenedOutput =
  | { readonly output: Output; readonly url: string; readonly fault: null }
  | { readonly output: null; readonly url: null; readonly fault: Fault | null };

/** Opens the output of an item that succeeded, with a URL for a media element. */
export function useOutput(item: Item): OpenedOutput {
  const { queue } = useWorkbench();
  const [opened, setOpened] = useState<OpenedOutput>({ output: null, url: null, fault: null });
  useEffect(() => {
    let isGone = false;
    const set = (next: OpenedOutput) => isGone || setOpened(next);
    queue
      .output(item.id)
      .then(async (output) => set({ output, url: await output.url(), fault: null }))
      .catch((thrown: unknown) => set({ output: null, url: null, fault: faultOf(thrown) }));
    return () => {
      isGone = true;
    };
  }, [queue, item.id, item.task?.id]);
  return opened;
}

/** Describes an error; unexpected ones in general terms. */
export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof MediaError) {
    const { kind, message, reason } = thrown;
    return { kind, message, ...(reason && { reason }) };
  }
  return { kind: "internal_error", message: "Something went wrong in this page. Try again." };
}
