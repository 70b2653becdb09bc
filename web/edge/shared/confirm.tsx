import type { ComponentChildren } from "preact";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { useService } from "./service.ts";
import { useSending } from "./use-sending.ts";

/** Asks for confirmation before something irreversible, then calls `act`, which closes the dialog; shows an error in place. */
export function Confirm({
  title,
  action,
  act,
  onClose,
  children,
}: {
  title: string;
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
