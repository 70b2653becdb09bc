import { choiceNames, defaultValues, optionControl } from "../../src/media/features.ts";
import { Field } from "../ui/field.tsx";
import type { AnyOptions } from "./choices.ts";
import type { Form } from "./use-form.ts";

/** The options of a kind that are one choice each. */
export function FeatureFields({ form: { wishes, options, change, faultAt } }: { form: Form }) {
  return choiceNames(wishes.kind).map((name) => {
    const value = options[name];
    const { label, hint, choices } = optionControl(name, value);
    const at = choices.findIndex((choice) => choice.value === value);
    const usual = choices.findIndex((choice) => choice.value === (value ?? usualOf(name)));
    return (
      <Field key={name} label={label} hint={hint} fault={faultAt(name)}>
        {(control) => (
          <select
            {...control}
            value={String(at < 0 ? usual : at)}
            onChange={({ currentTarget }) => {
              const chosen = choices[Number(currentTarget.value)]?.value;
              change({ [name]: chosen === usualOf(name) ? undefined : chosen } as AnyOptions);
            }}
          >
            {choices.map((choice, index) => (
              <option key={choice.label} value={index}>
                {choice.label}
              </option>
            ))}
          </select>
        )}
      </Field>
    );
  });
}

function usualOf(name: string): unknown {
  return defaultValues()[name];
}
