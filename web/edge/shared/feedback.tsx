import { Notice } from "../../ui/notice.tsx";
import type { Sending } from "./use-sending.ts";

/** The end of a form: what it failed by where no field is at fault, and what sends it. */
export function SendRow({
  form,
  label,
  busy,
  onCancel,
  leave = "Cancel",
}: {
  form: Sending;
  label: string;
  /** The label while it is sent. */
  busy: string;
  onCancel?: () => void;
  /** The label of what calls `onCancel`. */
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
