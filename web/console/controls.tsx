import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { type ServiceFault, toFault, useService } from "./service.ts";
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
  const isAtField = fields.includes(fault.value?.param ?? "");
  useEffect(() => {
    if (fault.value && isAtField) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [fault.value, isAtField]);

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
    fault: fault.value && !isAtField ? fault.value.message : null,
    at: (param) => (isAtField && fault.value?.param === param ? spokenOf(fault.value) : null),
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

const VARIANTS = { quiet: "quiet", icon: "quiet icon", plain: "" } as const;

/** A button in a row that sends a request at once and shows an error in a dialog. */
export function ActButton({
  label,
  of,
  icon,
  act,
  variant = "quiet",
}: {
  label: string;
  /** Name of the record, for screen readers. */
  of: string;
  icon: IconName;
  act: () => Promise<void>;
  /** `icon` shows the icon alone, `plain` adds a frame. */
  variant?: "quiet" | "icon" | "plain";
}) {
  const { explain } = useService();
  const busy = useSignal(false);
  const fault = useSignal<string | null>(null);
  const run = async () => {
    if (busy.value) return;
    busy.value = true;
    try {
      await act();
    } catch (thrown) {
      fault.value = explain(thrown).message;
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
        class={VARIANTS[variant]}
        aria-disabled={busy.value}
        aria-label={`${label} ${of}`}
        title={variant === "icon" ? label : undefined}
        onClick={run}
      >
        <Icon name={icon} size={variant === "quiet" ? 16 : 18} />
        {variant !== "icon" && label}
      </button>
      {fault.value && (
        <Dialog title={strings.actionFailed({ label })} onClose={close}>
          <Notice tone="bad">{fault.value}</Notice>
          <div class="row end">
            <button type="button" onClick={close}>
              {strings.close}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Copies a text, confirms it, and calls `onCopy`; `label` names what is copied. With `words`, the label stands beside the icon. */
export function CopyButton({
  text,
  label,
  words = false,
  onCopy,
}: {
  text: string;
  label: string;
  words?: boolean;
  onCopy?: () => void;
}) {
  const result = useSignal("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      result.value = strings.copied;
      onCopy?.();
    } catch {
      result.value = strings.copyYourself;
    }
    setTimeout(() => {
      result.value = "";
    }, 4000);
  };
  return (
    <>
      <button
        type="button"
        class={words ? "" : "quiet icon"}
        aria-label={words ? undefined : label}
        title={words ? undefined : label}
        onClick={copy}
      >
        <Icon name={result.value === strings.copied ? "check" : "copy"} size={words ? 18 : 16} />
        {words && (result.value || label)}
      </button>
      <span class="visually-hidden" role="status">
        {result.value}
      </span>
    </>
  );
}

/** A group of checkboxes under one label, with an error message. */
export function Choices({
  legend,
  fault,
  children,
}: {
  legend: string;
  fault: string | null;
  children: ComponentChildren;
}) {
  const id = useId();
  return (
    <fieldset aria-describedby={fault ? id : undefined}>
      <legend>{legend}</legend>
      {children}
      {fault && (
        <span class="small bad" id={id} role="alert">
          {fault}
        </span>
      )}
    </fieldset>
  );
}

const STATES = {
  queued: [strings.waitingForTurn, "plain"],
  waiting: [strings.waiting, "plain"],
  processing: [strings.converting, "busy"],
  succeeded: [strings.done, "good"],
  failed: [strings.failed, "bad"],
  cancelled: [strings.cancelled, "plain"],
  pending: [strings.trying, "busy"],
  delivered: [strings.delivered, "good"],
  given_up: [strings.gaveUp, "bad"],
  active: [strings.active, "good"],
  disabled: [strings.paused, "plain"],
} as const;

export type BadgeState = keyof typeof STATES;

/** Returns the word for a state, the same throughout the page. */
export function wordOf(state: BadgeState): string {
  return STATES[state][0];
}

/** Shows the state of a record; `word` overrides its text. */
export function Badge({ state, word }: { state: BadgeState; word?: string }) {
  return <span class={`badge ${STATES[state][1]}`}>{word ?? wordOf(state)}</span>;
}

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** A time in milliseconds since the Unix epoch, in short form, with the full form as a tooltip. */
export function When({ at }: { at: number }) {
  const date = new Date(at);
  return (
    <time class="numbers" dateTime={date.toISOString()} title={FULL.format(date)}>
      {date.toDateString() === new Date().toDateString() ? strings.today : DAY.format(date)},{" "}
      {TIME.format(date)}
    </time>
  );
}

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
  const { explain } = useService();
  const form = useSending(act, [], explain);
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={form.send}>
        <p>{children}</p>
        {form.fault && <Notice tone="bad">{form.fault}</Notice>}
        <div class="row end">
          <button type="button" onClick={onClose}>
            {strings.keep}
          </button>
          <button type="submit" class="danger" aria-disabled={form.sending}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Downloads a file under a name. */
export function offerFile(name: string, file: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Shows a secret once; the dialog closes only after the secret is copied, or saved as a file that sets `variable` to it. */
export function SecretDialog({
  title,
  secret,
  variable,
  use,
  onClose,
}: {
  title: string;
  secret: string;
  /** The name of the environment variable for it. */
  variable: string;
  use: string;
  onClose: () => void;
}) {
  const save = useRef<HTMLButtonElement>(null);
  const isSaved = useSignal(false);
  const isGuarded = useSignal(false);
  const settle = () => {
    isSaved.value = true;
    isGuarded.value = false;
  };
  const close = () => {
    if (isSaved.value) return onClose();
    isGuarded.value = true;
    save.current?.focus();
  };
  const saveFile = () => {
    // Browsers drop the dot of a name that begins with one.
    offerFile("framewright.env", new Blob([`${variable}=${secret}\n`]));
    settle();
  };
  return (
    <Dialog title={title} onClose={close}>
      <p>{use}</p>
      <p class="secret">
        <code data-testid="secret" onCopy={() => getSelection()?.toString().includes(secret) && settle()}>
          {secret}
        </code>
      </p>
      {isGuarded.value ? (
        <Notice key="guard" tone="bad">
          {strings.secretGuard}
        </Notice>
      ) : (
        <Notice tone="warn">{strings.secretShownOnce}</Notice>
      )}
      <div class="row end">
        <CopyButton text={secret} label={strings.copy} words onCopy={settle} />
        <button ref={save} type="button" onClick={saveFile}>
          <Icon name="download" />
          {strings.saveAsEnv}
        </button>
        <button type="button" class="primary" disabled={!isSaved.value} onClick={onClose}>
          {strings.done}
        </button>
      </div>
    </Dialog>
  );
}
