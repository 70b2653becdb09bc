import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { describedBy, Notes } from "./field.tsx";
import "./segments.css";

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
