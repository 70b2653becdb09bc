import { useMemo } from "preact/hooks";
import type { Source } from "../../src/index.ts";
import {
  type FieldControl,
  type OptionName,
  optionControl,
  unplacedNames,
} from "../../src/media/option-groups.ts";
import type { Item, Settings } from "../queue/item.ts";
import { changeSettings } from "../queue/undo.tsx";
import { Field, TextField } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { useWorkbench } from "../workbench.ts";
import { checkSettings, type Verdict, withVerdict } from "./check-settings.ts";
import { type AnyOptions, withOptions } from "./choices.ts";

export interface Form {
  readonly item: Item;
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

export function useForm(item: Item, source: Source): Form {
  const { queue } = useWorkbench();
  const { id, settings } = item;
  const verdict = useMemo(() => checkSettings(settings, source), [settings, source]);
  const update = (change: (settings: Settings) => Settings) => {
    const now = queue.items.peek().find((each) => each.id === id) ?? item;
    changeSettings(queue, now, withVerdict(change(now.settings), source));
  };
  return {
    item,
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

/** The control of one option: a number, a choice, or the fields of its objects. */
export function OptionField({
  form,
  name,
  empty,
}: {
  form: Form;
  name: OptionName;
  /** The meaning of an empty field, where it depends on the source. */
  empty?: string;
}) {
  const { settings, options, change, faultAt } = form;
  const value = options[name];
  const control = optionControl(settings.kind, name, value);
  const { label, hint, choices, objects } = control;
  if (objects) return <ObjectFields form={form} name={name} hint={hint} />;
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

type Row = Readonly<Record<string, unknown>>;

/** The fields of an option that is an object or a list of objects. A list has one more, empty row until it is full. */
export function ObjectFields({
  form: { settings, options, change, faultAt },
  name,
  hint,
}: {
  form: Form;
  name: OptionName;
  /** Stands under the first field. */
  hint?: string | undefined;
}) {
  const { objects } = optionControl(settings.kind, name, options[name]);
  if (!objects) return null;
  const { fields, max } = objects;
  const value: unknown = options[name];
  const rows: readonly Row[] = Array.isArray(value) ? value : value ? [Object(value)] : [];
  const set = (index: number, row: Row) => {
    const own = Object.keys(row).length > 0 ? [row] : [];
    const all = [...rows.slice(0, index), ...own, ...rows.slice(index + 1)];
    change({ [name]: max === null ? all[0] : all.length > 0 ? all : undefined });
  };
  return withBlank(rows, max ?? 1).map((row, index) => (
    <div class="columns" key={index}>
      {fields.map((field, at) => (
        <ObjectField
          key={field.name}
          control={{ ...field, label: numberedLabel(field.label, index) }}
          hint={index === 0 && at === 0 ? hint : undefined}
          value={row?.[field.name]}
          onChange={(changed) => set(index, withoutUndefined({ ...row, [field.name]: changed }))}
          fault={faultAt([name, ...(max === null ? [] : [index]), field.name].join("."))}
        />
      ))}
    </div>
  ));
}

function ObjectField({
  control: { label, type, example, choices },
  value,
  onChange,
  ...notes
}: {
  control: FieldControl;
  hint: string | undefined;
  value: unknown;
  onChange(value: unknown): void;
  fault: string | null;
}) {
  if (type === "number") {
    const number = typeof value === "number" ? value : undefined;
    return <NumberField label={label} value={number} onChange={onChange} {...notes} />;
  }
  const text = value === undefined ? undefined : String(value);
  if (!choices) {
    const own = type === "url" ? { type } : {};
    const change = (entry: string | undefined) =>
      onChange(type === "length" && /^\d+$/.test(entry ?? "") ? Number(entry) : entry);
    return (
      <TextField {...own} label={label} placeholder={example} value={text} onChange={change} {...notes} />
    );
  }
  return (
    <Field label={label} {...notes}>
      {(attributes) => (
        <select
          {...attributes}
          value={keyOf(value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
        >
          {["", ...choices].map((choice) => (
            <option key={choice} value={keyOf(choice)}>
              {keyOf(choice)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Appends an empty row of fields, as long as there is room. */
export function withBlank<T>(rows: readonly T[], max: number): (T | null)[] {
  return rows.length < max ? [...rows, null] : [...rows];
}

/** Returns the label of a field in a row; from the second row on, it has a number. */
export function numberedLabel(label: string, index: number): string {
  return index === 0 ? label : `${label} ${index + 1}`;
}

/** Returns an object without its undefined fields. */
export function withoutUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

function keyOf(value: unknown): string {
  return String(value ?? "");
}
