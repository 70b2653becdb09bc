import { Notice } from "../../ui/notice.tsx";
import type { Sending } from "./use-sending.ts";

/** The end of a form: the error that belongs to no field, and the submit button. */
export function SendRow({
  form,
  label,
  busy,
  onCancel,
  leave = "Cancel",
}: {
  form: Sending;
  label: string;
  /** The label while sending. */
  busy: string;
  onCancel?: () => void;
  /** The label of the button for `onCancel`. */
  leave?: string;
}) {
  return (
    <>
      {form.fault && <Notice tone="bad">{form.fault}</Notice>}
      <div class="row end">
        {onCancel && (
          <button type="button" onClick={onCancel}>
            {leave}
          </button>
        )}
        <button type="submit" class="primary" aria-disabled={form.sending}>
          {form.sending ? busy : label}
        </button>
      </div>
    </>
  );
}
