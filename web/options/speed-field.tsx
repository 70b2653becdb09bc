import { Field } from "../ui/field.tsx";
import type { Form } from "./use-form.ts";

const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4] as const;

/** How fast a video or sound plays. */
export function SpeedField({ form: { options, change, faultAt } }: { form: Form }) {
  const { speed = 1 } = options;
  const choices = [...new Set([...SPEEDS, speed])].sort((a, b) => a - b);
  return (
    <Field label="Speed" hint={speed === 1 ? undefined : "Voices keep their pitch."} fault={faultAt("speed")}>
      {(control) => (
        <select
          {...control}
          value={String(speed)}
          onChange={({ currentTarget }) => {
            const chosen = Number(currentTarget.value);
            change({ speed: chosen === 1 ? undefined : chosen });
          }}
        >
          {choices.map((each) => (
            <option key={each} value={each}>
              {each === 1 ? "As in the source" : `${each} times`}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
