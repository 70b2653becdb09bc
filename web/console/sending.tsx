import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Notice } from "../ui/notice.tsx";
import { type ServiceFault, toFault } from "./service.ts";
import * as strings from "./strings.ts";

/** A submission, one at a time, and its error. */
interface Sending {
  readonly sending: boolean;
  /** The error to show beside the button, when it belongs to no field. */
  readonly fault: string | null;
  /** Returns the error of a field; null when it has none. */
  at(param: string): string | null;
  /** Submits; as a form's submit handler it also prevents navigation. */
  send(event?: Event): void;
}

/** Submits with `act`. `explain` converts an error to words, shown at the field that it names if that is one of `fields`. */
export function useSending(
  act: (form: FormData) => Promise<void>,
  fields: readonly string[] = [],
  explain: (thrown: unknown) => ServiceFault = toFault,
): Sending {
  const sending = useSignal(false);
  const fault = useSignal<ServiceFault | null>(null);
  const form = useRef<HTMLFormElement | null>(null);
  const at_field = fields.includes(fault.value?.param ?? "");
  useEffect(() => {
    if (fault.value && at_field) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [fault.value, at_field]);

  async function run(element: HTMLFormElement | null): Promise<void> {
    sending.value = true;
    fault.value = null;
    form.current = element;
    try {
      await act(new FormData(element ?? undefined));
    } catch (thrown) {
      fault.value = explain(thrown);
    }
    sending.value = false;
  }

  return {
    sending: sending.value,
    fault: fault.value && !at_field ? fault.value.message : null,
    at: (param) => (at_field && fault.value?.param === param ? spokenOf(fault.value) : null),
    send(event) {
      event?.preventDefault();
      if (sending.value) return;
      void run(event?.currentTarget instanceof HTMLFormElement ? event.currentTarget : null);
    },
  };
}

function spokenOf({ message, reason }: ServiceFault): string {
  return reason?.code === "field" ? strings.fieldRule({ rule: reason.rule }) : message;
}

/** The end of a form: the error that belongs to no field, and the submit button. */
export function SendRow({
  form,
  label,
  busy,
  onCancel,
  leave = strings.cancel,
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
