import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type ServiceFault, toFault } from "./service.ts";

/** Something that is sent, once at a time, and what it failed by. */
export interface Sending {
  readonly sending: boolean;
  /** The fault that is told beside the button: that of no field which is there. */
  readonly fault: string | null;
  /** What is wrong with the field of a name; null when nothing is. */
  at(param: string): string | null;
  /** Sends; for the submit of a form, which it keeps on the page. */
  send(event?: Event): void;
}

/** Sends by `act`, whose fault is told by `tell` at the field that it names, if that is one of `fields`. */
export function useSending(
  act: (form: FormData) => Promise<void>,
  fields: readonly string[] = [],
  tell: (thrown: unknown) => ServiceFault = toFault,
): Sending {
  const sending = useSignal(false);
  const fault = useSignal<ServiceFault | null>(null);
  const form = useRef<HTMLFormElement | null>(null);
  const at_field = fields.includes(fault.value?.param ?? "");
  useEffect(() => {
    // Whoever listens is led to what is wrong.
    if (fault.value && at_field) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [fault.value, at_field]);

  async function run(given: HTMLFormElement | null): Promise<void> {
    sending.value = true;
    fault.value = null;
    form.current = given;
    try {
      await act(new FormData(given ?? undefined));
    } catch (thrown) {
      fault.value = tell(thrown);
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

// A field has a label, which is not the name that the service has for it.
function spokenOf({ message, reason }: ServiceFault): string {
  return reason?.code === "field" ? `It ${reason.rule}` : message;
}
