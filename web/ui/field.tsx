import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** The attributes that tie a control to the label, hint and error of its {@link Field}. */
export interface FieldControl {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

/** A labeled control with a hint and, for an invalid value, an error message. */
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

const URL_TYPE = { type: "url" } as const;
const TEXT_TYPE = { type: "text" } as const;

/** A labeled text or URL; an empty one is undefined. */
export function TextField({
  label,
  hint,
  fault,
  type,
  placeholder,
  value = "",
  onChange,
}: {
  label: string;
  hint?: ComponentChildren;
  fault: string | null;
  type?: "url";
  placeholder: string | undefined;
  value: string | undefined;
  onChange(value: string | undefined): void;
}) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <input
          {...control}
          {...(type === "url" ? URL_TYPE : TEXT_TYPE)}
          autocomplete="off"
          placeholder={placeholder}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value || undefined)}
        />
      )}
    </Field>
  );
}

interface FieldNotes {
  hint?: ComponentChildren;
  fault?: string | null | undefined;
}

export function describedBy(id: string, { hint, fault }: FieldNotes): string | undefined {
  return [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ") || undefined;
}

export function Notes({ id, hint, fault }: FieldNotes & { id: string }) {
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
