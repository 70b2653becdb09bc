import { Notice } from "../../ui/notice.tsx";
import type { Sending } from "./use-sending.ts";

/** The end of a form: what it failed by where no field is at fault, and what sends it. */
export function SendRow({
  form,
  label,
  busy,
  onCancel,
}: {
  form: Sending;
  label: string;
  /** The label while it is sent. */
  busy: string;
  onCancel?: () => void;
}) {
  return (
    <>
      {form.fault && <Notice tone="bad">{form.fault}</Notice>}
      <div class="row end">
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="primary" aria-disabled={form.sending}>
          {form.sending ? busy : label}
        </button>
      </div>
    </>
  );
}
