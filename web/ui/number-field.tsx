import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Field } from "./field.tsx";

/** A labelled number as a text: what is no number is given on as NaN, and nothing as undefined, so that whoever judges it can say what is wrong. */
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
  // What was typed stays as it is as long as it means the value: "25." on the way to "25.5".
  const shown = Object.is(numberOf(text), value) ? text : wordOf(value);
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <input
          {...control}
          inputMode="decimal"
          autocomplete="off"
          placeholder={placeholder}
          value={shown}
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
