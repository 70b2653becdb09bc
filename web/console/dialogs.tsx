import type { ComponentChildren } from "preact";
import { Dialog } from "../ui/dialog.tsx";
import { Notice } from "../ui/notice.tsx";
import { CopyButton } from "./controls.tsx";
import { useSending } from "./sending.tsx";
import { useService } from "./service.ts";

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

/** Shows a secret once, to be copied; nothing keeps it after the dialog closes. */
export function SecretDialog({
  title,
  secret,
  use,
  onClose,
}: {
  title: string;
  secret: string;
  use: string;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{use}</p>
      <p class="secret">
        <code data-testid="secret">{secret}</code>
      </p>
      <Notice tone="warn">It is shown only once. Store it where only those who need it can read it.</Notice>
      <div class="row end">
        <CopyButton text={secret} label="Copy" words />
        <button type="button" class="primary" onClick={onClose}>
          I've saved it
        </button>
      </div>
    </Dialog>
  );
}
