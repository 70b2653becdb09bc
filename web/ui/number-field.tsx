import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Field } from "./field.tsx";

/**
 * A labeled number, edited as text: passes NaN on for invalid input and undefined for none, so that the caller can say what
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
