import { optionControl } from "../../src/media/option-groups.ts";
import { NumberField } from "../ui/number-field.tsx";
import { Segments } from "../ui/segments.tsx";
import { OptionField } from "./option-field.tsx";
import type { Form } from "./use-form.ts";

const WAYS = [
  { value: "one", label: "One" },
  { value: "count", label: "Several, evenly spaced" },
  { value: "interval", label: "One every few seconds" },
] as const;

type Way = (typeof WAYS)[number]["value"];

const DEFAULTS = { count: 10, interval: 10 } as const;

/** Which pictures to take from a video: one, a number of them, or one every few seconds. */
export function StillsFields({ form: { options, change, faultAt } }: { form: Form }) {
  const { interval, count } = options;
  const way: Way = interval !== undefined ? "interval" : count !== undefined ? "count" : "one";
  const choose = (next: Way) => {
    const { max_bytes } = options;
    // Limits of a single image do not apply to a series.
    const none = {
      interval: undefined,
      count: undefined,
      max_bytes: next === "one" ? max_bytes : undefined,
    };
    change(next === "one" ? none : { ...none, [next]: DEFAULTS[next] });
  };
  const control = way === "one" ? null : optionControl("image", way, options[way]);
  return (
    <>
      <Segments<Way> label="Pictures" choices={WAYS} value={way} onChange={choose} />
      {control && (
        <NumberField
          key={way}
          label={control.label}
          value={way === "count" ? count : interval}
          onChange={(value = Number.NaN) => change({ [way]: value })}
          hint={control.hint}
          fault={faultAt(way)}
        />
      )}
    </>
  );
}

/** How close the tiles of a storyboard are, how wide, and how many a sheet holds. */
export function StoryboardFields({ form }: { form: Form }) {
  return (
    <>
      <p class="soft small">
        Small pictures on sheets, with a WebVTT that players read to show them above their seek bars.
      </p>
      <div class="columns">
        <OptionField form={form} name="interval" />
        <OptionField form={form} name="width" />
      </div>
      <div class="columns">
        <OptionField form={form} name="columns" />
        <OptionField form={form} name="rows" />
      </div>
    </>
  );
}
