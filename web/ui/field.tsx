import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import "./segments.css";

/** The attributes that tie a control to the label, hint and error of its {@link Field}. */
export interface FieldControl {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

/** A labelled control with a hint and, for an invalid value, an error message. */
export function Field({
  label,
  hint,
  fault,
  children,
}: {
  label: ComponentChildren;
  hint?: ComponentChildren;
  fault?: string | null | undefined;
  children: (control: FieldControl) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": describedBy(id, { hint, fault }),
        "aria-invalid": fault ? true : undefined,
      })}
      <Notes id={id} hint={hint} fault={fault} />
    </div>
  );
}

interface FieldNotes {
  hint?: ComponentChildren;
  fault?: string | null | undefined;
}

function describedBy(id: string, { hint, fault }: FieldNotes): string | undefined {
  return [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ") || undefined;
}

function Notes({ id, hint, fault }: FieldNotes & { id: string }) {
  return (
    <>
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {fault && (
        <span class="fault" id={`${id}-fault`}>
          {fault}
        </span>
      )}
    </>
  );
}

/**
 * A labelled number, edited as text: passes NaN on for invalid input and undefined for none, so that the caller can say what
 * is wrong.
 */
export function NumberField({
  label,
  value,
  onChange,
  placeholder,
  hint,
  fault,
}: {
  label: ComponentChildren;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
  placeholder?: string | undefined;
  hint?: ComponentChildren;
  fault?: string | null | undefined;
}) {
  const [text, setText] = useState(wordOf(value));
  // Keep the typed text as long as it means the value: "25." on the way to "25.5".
  const display = Object.is(numberOf(text), value) ? text : wordOf(value);
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          autocomplete="off"
          placeholder={placeholder}
          value={display}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            onChange(numberOf(currentTarget.value));
          }}
        />
      )}
    </Field>
  );
}

function numberOf(text: string): number | undefined {
  const plain = text.trim().replace(",", ".");
  return plain === "" ? undefined : Number(plain);
}

function wordOf(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? "" : String(value);
}

/**
 * A choice of few options, all visible: radio buttons styled as one control, with a hint and, for an invalid choice, an
 * error message.
 */
export function Segments<T extends string>({
  label,
  choices,
  value,
  onChange,
  hint,
  fault,
}: {
  label: string;
  /** The options in order, with their labels. */
  choices: readonly { value: T; label: ComponentChildren }[];
  value: T | null;
  onChange: (value: T) => void;
  hint?: ComponentChildren;
  fault?: string | null | undefined;
}) {
  const id = useId();
  return (
    <fieldset class="field segments" aria-describedby={describedBy(id, { hint, fault })}>
      <legend class="label">{label}</legend>
      <div>
        {choices.map((choice) => (
          <label key={choice.value}>
            <input
              type="radio"
              name={id}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            <span>{choice.label}</span>
          </label>
        ))}
      </div>
      <Notes id={id} hint={hint} fault={fault} />
    </fieldset>
  );
}
