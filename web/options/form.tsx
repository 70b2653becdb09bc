import { useMemo } from "preact/hooks";
import type { Source } from "../../src/index.ts";
import { type OptionName, optionControl, unplacedNames } from "../../src/media/option-groups.ts";
import type { Item, Settings } from "../queue/item.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { useWorkbench } from "../workbench.ts";
import { checkSettings, type Verdict, withVerdict } from "./check-settings.ts";
import { type AnyOptions, withOptions } from "./choices.ts";

export interface Form {
  readonly source: Source;
  readonly settings: Settings;
  readonly options: AnyOptions;
  readonly verdict: Verdict;
  /** Returns the error of a field; null when it has none. */
  faultAt(field: string): string | null;
  /** Changes options; undefined removes one. */
  change(changes: AnyOptions): void;
  /** Replaces the current options, which may be newer than those rendered. */
  update(change: (settings: Settings) => Settings): void;
}

export function useForm({ id, settings }: Item, source: Source): Form {
  const { queue } = useWorkbench();
  const verdict = useMemo(() => checkSettings(settings, source), [settings, source]);
  const update = (change: (settings: Settings) => Settings) => {
    const now = queue.items.peek().find((item) => item.id === id)?.settings ?? settings;
    queue.configure(id, withVerdict(change(now), source));
  };
  return {
    source,
    settings,
    options: settings.options,
    verdict,
    faultAt: (field) => (verdict.fault?.field === field ? verdict.fault.message : null),
    change: (changes) => update((now) => withOptions(now, changes)),
    update,
  };
}

/** The options that the form does not place itself. */
export function OptionFields({ form }: { form: Form }) {
  return unplacedNames(form.settings.kind).map((name) => <OptionField key={name} form={form} name={name} />);
}

/** The control of one option: a number, or a choice. */
export function OptionField({
  form: { settings, options, change, faultAt },
  name,
  empty,
}: {
  form: Form;
  name: OptionName;
  /** The meaning of an empty field, where it depends on the source. */
  empty?: string;
}) {
  const value = options[name];
  const control = optionControl(settings.kind, name, value);
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
            const selection = choices.find((choice) => keyOf(choice.value) === currentTarget.value)?.value;
            change({ [name]: selection === control.default ? undefined : selection } as AnyOptions);
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
