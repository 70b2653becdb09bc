import { useState } from "preact/hooks";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import type { Form } from "./use-form.ts";

const UNITS = { kB: 1000, MB: 1_000_000 } as const;

type Unit = keyof typeof UNITS;

export function SizeOfFile({ form }: { form: Form }) {
  const { wishes, wish, faultAt } = form;
  const bytes = wishes.target_size ?? Number.NaN;
  const [unit, setUnit] = useState<Unit>(bytes < UNITS.MB ? "kB" : "MB");
  const set = (target_size: number) =>
    wish((now) => ({ ...now, target_size: Math.round(target_size), preset: null }));
  return (
    <div class="columns narrow-last">
      <NumberField
        label={`Maximum file size (${unit})`}
        value={bytes / UNITS[unit]}
        onChange={(value) => set((value ?? Number.NaN) * UNITS[unit])}
        hint="The bitrate follows from this and the duration."
        fault={faultAt("target_size")}
      />
      <Field label="Unit">
        {(control) => (
          <select
            {...control}
            value={unit}
            onChange={({ currentTarget }) => {
              const wanted = currentTarget.value as Unit;
              // The number stays; only the unit was wrong.
              set((bytes / UNITS[unit]) * UNITS[wanted]);
              setUnit(wanted);
            }}
          >
            {Object.keys(UNITS).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}
