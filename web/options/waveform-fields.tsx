import { BOUNDS } from "../../src/index.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { TrackField } from "./track-field.tsx";
import type { Form } from "./use-form.ts";

// What audiowaveform draws with.
const COLORS = { waveform_color: "#3f4d9b", background_color: "#d6d6d6" } as const;

/** How close the points of a waveform are, of which channels, and how it is drawn. */
export function WaveformFields({ form }: { form: Form }) {
  const { options, change, faultAt } = form;
  const isDrawn = options.format === "png";
  const { min, max } = BOUNDS.pixels_per_second;
  return (
    <>
      <div class="columns">
        <NumberField
          label="Points per second"
          value={options.pixels_per_second}
          onChange={(value) => change({ pixels_per_second: value, samples_per_pixel: undefined })}
          placeholder={isDrawn ? "as many as show all" : "a point every 256 samples"}
          hint={`${min} to ${max}.`}
          fault={faultAt("pixels_per_second")}
        />
        <Field label="Channels" fault={faultAt("split_channels")}>
          {(control) => (
            <select
              {...control}
              value={options.split_channels ? "each" : "mean"}
              onChange={({ currentTarget }) =>
                change({ split_channels: currentTarget.value === "each" ? true : undefined })
              }
            >
              <option value="mean">Mixed to one</option>
              <option value="each">Each by itself</option>
            </select>
          )}
        </Field>
      </div>
      <TrackField form={form} />
      {isDrawn ? (
        <PictureFields form={form} />
      ) : (
        <Field label="Precision" fault={faultAt("bits")}>
          {(control) => (
            <select
              {...control}
              value={options.bits ?? 16}
              onChange={({ currentTarget }) => change({ bits: currentTarget.value === "8" ? 8 : undefined })}
            >
              <option value={16}>16 bits</option>
              <option value={8}>8 bits – half the size; peaks.js needs them</option>
            </select>
          )}
        </Field>
      )}
    </>
  );
}

function PictureFields({ form: { options, change, faultAt } }: { form: Form }) {
  const side = (name: "width" | "height", label: string, usual: string) => (
    <NumberField
      label={label}
      value={typeof options[name] === "number" ? options[name] : undefined}
      onChange={(value) => change({ [name]: value })}
      placeholder={usual}
      fault={faultAt(name)}
    />
  );
  const color = (name: keyof typeof COLORS, label: string) => (
    <Field label={label} fault={faultAt(name)}>
      {(control) => (
        <input
          {...control}
          type="color"
          value={options[name] ?? COLORS[name]}
          onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      )}
    </Field>
  );
  return (
    <>
      <div class="columns">
        {side("width", "Width (pixels)", "800")}
        {side("height", "Height (pixels)", "250")}
      </div>
      <div class="columns">
        {color("waveform_color", "Color")}
        {color("background_color", "Background")}
      </div>
    </>
  );
}
