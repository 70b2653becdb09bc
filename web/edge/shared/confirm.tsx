import type { ComponentChildren } from "preact";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { useService } from "./service.ts";
import { useSending } from "./use-sending.ts";

/** Asks before something that cannot be undone, and does it by `act`, which takes the dialog away; a fault is told in place. */
export function Confirm({
  title,
  action,
  act,
  onClose,
  children,
}: {
  title: string;
  /** What the button says that does it. */
  action: string;
  act: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const { tell } = useService();
  const form = useSending(act, [], tell);
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={form.send}>
        <p>{children}</p>
        {form.fault && <Notice tone="bad">{form.fault}</Notice>}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Keep
          </button>
          <button type="submit" class="danger" aria-disabled={form.sending}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
