import { useSignal } from "@preact/signals";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon, type IconName } from "../../ui/icon.tsx";
import { Notice } from "../../ui/notice.tsx";
import { useService } from "./service.ts";

const LOOKS = { quiet: "quiet", icon: "quiet icon", plain: "" } as const;

/** A button of a row that asks the service for something at once; what it fails by is told in a dialog. */
export function ActButton({
  label,
  of,
  icon,
  act,
  look = "quiet",
}: {
  label: string;
  /** What it is done to, for those who listen. */
  of: string;
  icon: IconName;
  act: () => Promise<void>;
  /** `icon` has the sign alone, `plain` a frame. */
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
