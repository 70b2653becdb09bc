import { STORYBOARD_DEFAULTS } from "../../src/index.ts";
import { NumberField } from "../ui/number-field.tsx";
import { Segments } from "../ui/segments.tsx";
import type { Form } from "./use-form.ts";

const WAYS = [
  { value: "one", label: "One" },
  { value: "count", label: "Several, evenly spaced" },
  { value: "interval", label: "One every few seconds" },
] as const;

type Way = (typeof WAYS)[number]["value"];

const LABELS = { count: "Number of pictures", interval: "Seconds between pictures" } as const;
const USUAL = { count: 10, interval: 10 } as const;

/** Which pictures to take from a video: one, a number of them, or one every few seconds. */
export function StillsFields({ form: { options, change, faultAt } }: { form: Form }) {
  const { interval, count } = options;
  const way: Way = interval !== undefined ? "interval" : count !== undefined ? "count" : "one";
  const choose = (wanted: Way) => {
    const { max_bytes } = options;
    // What limits one picture limits no series of them.
    const none = {
      interval: undefined,
      count: undefined,
      max_bytes: wanted === "one" ? max_bytes : undefined,
    };
    change(wanted === "one" ? none : { ...none, [wanted]: USUAL[wanted] });
  };
  return (
    <>
      <Segments<Way> label="Pictures" choices={WAYS} value={way} onChange={choose} />
      {way !== "one" && (
        <NumberField
          key={way}
          label={LABELS[way]}
          value={way === "count" ? count : interval}
          onChange={(value = Number.NaN) => change({ [way]: value })}
          hint="Each is a file of its own. The first one is at the moment chosen below."
          fault={faultAt(way)}
        />
      )}
    </>
  );
}

/** How close the tiles of a storyboard are, how wide, and how many a sheet holds. */
export function StoryboardFields({ form: { options, change, faultAt } }: { form: Form }) {
  const field = (name: "interval" | "columns" | "rows", label: string, usual: string) => (
    <NumberField
      label={label}
      value={options[name]}
      onChange={(value) => change({ [name]: value })}
      placeholder={usual}
      fault={faultAt(name)}
    />
  );
  const { width, columns, rows } = STORYBOARD_DEFAULTS;
  return (
    <>
      <p class="soft small">
        Small pictures on sheets, with a WebVTT that players read to show them above their seek bars.
      </p>
      <div class="columns">
        {field("interval", "Seconds between pictures", "1 to 10, by the duration")}
        <NumberField
          label="Width of a picture (pixels)"
          value={typeof options.width === "number" ? options.width : undefined}
          onChange={(value) => change({ width: value })}
          placeholder={String(width)}
          fault={faultAt("width")}
        />
      </div>
      <div class="columns">
        {field("columns", "Pictures across a sheet", String(columns))}
        {field("rows", "Pictures down a sheet", String(rows))}
      </div>
    </>
  );
}
