import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** What the control of a {@link Field} has to carry, so that its label, hint and fault are read with it. */
export interface FieldControl {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

/** A labelled control with a hint below it and, where its value is wrong, what would be right. */
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
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": described || undefined,
        "aria-invalid": fault ? true : undefined,
      })}
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
    </div>
  );
}
