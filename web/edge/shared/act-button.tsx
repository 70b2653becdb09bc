import { useSignal } from "@preact/signals";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Notice } from "../../ui/notice.tsx";
import { useService } from "./service.ts";

const LOOKS = { quiet: "quiet", icon: "quiet icon", plain: "" } as const;

/** A button in a row that sends a request at once and shows an error in a dialog. */
export function ActButton({
  label,
  of,
  icon,
  act,
  look = "quiet",
}: {
  label: string;
  /** Name of the record, for screen readers. */
  of: string;
  icon: IconName;
  act: () => Promise<void>;
  /** `icon` shows the icon alone, `plain` adds a frame. */
  look?: "quiet" | "icon" | "plain";
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
        class={LOOKS[look]}
        aria-disabled={busy.value}
        aria-label={`${label} ${of}`}
        title={look === "icon" ? label : undefined}
        onClick={run}
      >
        <Icon name={icon} size={look === "quiet" ? 16 : 20} />
        {look !== "icon" && label}
      </button>
      {fault.value && (
        <Dialog title={`${label} failed`} onClose={close}>
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
