import { optionControl, optionLabel } from "../../src/media/option-groups.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { OptionField } from "./option-field.tsx";
import { TrackField } from "./sound-fields.tsx";
import type { Form } from "./use-form.ts";

const ZOOMS = ["pixels_per_second", "points", "samples_per_pixel"] as const;
const DEFAULTS = { pixels_per_second: 100, points: 1000, samples_per_pixel: 512 } as const;
const UNZOOMED = { pixels_per_second: undefined, points: undefined, samples_per_pixel: undefined } as const;

/** How close the points of a waveform are, of which channels, and how it is drawn. */
export function WaveformFields({ form }: { form: Form }) {
  const { options, change, faultAt } = form;
  const isDrawn = options.format === "png";
  const zooms = isDrawn ? ZOOMS.filter((name) => name !== "points") : ZOOMS;
  const zoom = zooms.find((name) => options[name] !== undefined);
  return (
    <>
      <div class="columns">
        <Field label="Points">
          {(control) => (
            <select
              {...control}
              value={zoom ?? ""}
              onChange={({ currentTarget: { value } }) => {
                const chosen = zooms.find((name) => name === value);
                change({ ...UNZOOMED, ...(chosen && { [chosen]: DEFAULTS[chosen] }) });
              }}
            >
              <option value="">{isDrawn ? "As many as show all" : "One every 256 samples"}</option>
              {zooms.map((name) => (
                <option key={name} value={name}>
                  {optionLabel(name)}
                </option>
              ))}
            </select>
          )}
        </Field>
        {zoom && (
          <NumberField
            key={zoom}
            label={optionLabel(zoom)}
            value={options[zoom]}
            onChange={(value = Number.NaN) => change({ [zoom]: value })}
            hint={optionControl("waveform", zoom, options[zoom]).hint}
            fault={faultAt(zoom)}
          />
        )}
        <OptionField form={form} name="split_channels" />
      </div>
      <TrackField form={form} />
      {isDrawn ? <PictureFields form={form} /> : <OptionField form={form} name="bits" />}
    </>
  );
}

function PictureFields({ form }: { form: Form }) {
  return (
    <>
      <div class="columns">
        <OptionField form={form} name="width" />
        <OptionField form={form} name="height" />
      </div>
      <div class="columns">
        <ColorField form={form} name="waveform_color" />
        <ColorField form={form} name="background_color" />
      </div>
    </>
  );
}

function ColorField({
  form: { options, change, faultAt },
  name,
}: {
  form: Form;
  name: "waveform_color" | "background_color";
}) {
  const { label, default: usual } = optionControl("waveform", name, options[name]);
  return (
    <Field label={label} fault={faultAt(name)}>
      {(control) => (
        <input
          {...control}
          type="color"
          value={options[name] ?? String(usual)}
          onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      )}
    </Field>
  );
}
