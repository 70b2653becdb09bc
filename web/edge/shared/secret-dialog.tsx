import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { CopyButton } from "./copy-button.tsx";

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
