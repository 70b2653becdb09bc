import { useSignal } from "@preact/signals";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Notice } from "../../ui/notice.tsx";
import { useService } from "./service.ts";

/** A button of a row that asks the service for something at once; what it fails by is told in a dialog. */
export function ActButton({
  label,
  of,
  icon,
  act,
  compact = false,
}: {
  label: string;
  /** What it is done to, for those who listen. */
  of: string;
  icon: IconName;
  act: () => Promise<void>;
  /** The sign alone. */
  compact?: boolean;
}) {
  const { tell } = useService();
  const busy = useSignal(false);
  const fault = useSignal<string | null>(null);
  const run = async () => {
    if (busy.value) return;
    busy.value = true;
    try {
      await act();
    } catch (thrown) {
      fault.value = tell(thrown).message;
    }
    busy.value = false;
  };
  const close = () => {
    fault.value = null;
  };
  return (
    <>
      <button
        type="button"
        class={compact ? "quiet icon" : "quiet"}
        aria-disabled={busy.value}
        aria-label={`${label} ${of}`}
        title={compact ? label : undefined}
        onClick={run}
      >
        <Icon name={icon} size={compact ? 20 : 16} />
        {!compact && label}
      </button>
      {fault.value && (
        <Dialog title={`${label}: not done`} onClose={close}>
          <Notice tone="bad">{fault.value}</Notice>
          <div class="row end">
            <button type="button" onClick={close}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
