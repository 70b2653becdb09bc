import { type OptionName, optionControl, unplacedNames } from "../../src/media/option-groups.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import type { AnyOptions } from "./choices.ts";
import type { Form } from "./use-form.ts";

/** The options that the form does not place itself. */
export function OptionFields({ form }: { form: Form }) {
  return unplacedNames(form.wishes.kind).map((name) => <OptionField key={name} form={form} name={name} />);
}

/** The control of one option: a number, or a choice. */
export function OptionField({
  form: { wishes, options, change, faultAt },
  name,
  empty,
}: {
  form: Form;
  name: OptionName;
  /** The meaning of an empty field, where it depends on the source. */
  empty?: string;
}) {
  const value = options[name];
  const control = optionControl(wishes.kind, name, value);
  const { label, hint, choices } = control;
  if (!choices) {
    return (
      <NumberField
        label={label}
        value={typeof value === "number" ? value : undefined}
        onChange={(number) => change({ [name]: number })}
        placeholder={empty ?? control.empty}
        hint={hint}
        fault={faultAt(name)}
      />
    );
  }
  return (
    <Field label={label} hint={hint} fault={faultAt(name)}>
      {(attributes) => (
        <select
          {...attributes}
          value={keyOf(value ?? control.default)}
          onChange={({ currentTarget }) => {
            const chosen = choices.find((choice) => keyOf(choice.value) === currentTarget.value)?.value;
            change({ [name]: chosen === control.default ? undefined : chosen } as AnyOptions);
          }}
        >
          {choices.map((choice) => (
            <option key={choice.label} value={keyOf(choice.value)}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function keyOf(value: unknown): string {
  return String(value ?? "");
}
