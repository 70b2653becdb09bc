import { BOUNDS } from "../../src/index.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { TrackField } from "./track-field.tsx";
import type { Form } from "./use-form.ts";

// What audiowaveform draws with.
const COLORS = { waveform_color: "#3f4d9b", background_color: "#d6d6d6" } as const;

const ZOOMS = ["pixels_per_second", "points", "samples_per_pixel"] as const;
const ZOOM_WORDS = {
  pixels_per_second: "Points per second",
  points: "Points in all",
  samples_per_pixel: "Samples per point",
} as const;
const USUAL = { pixels_per_second: 100, points: 1000, samples_per_pixel: 512 } as const;
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
                change({ ...UNZOOMED, ...(chosen && { [chosen]: USUAL[chosen] }) });
              }}
            >
              <option value="">{isDrawn ? "As many as show all" : "One every 256 samples"}</option>
              {zooms.map((name) => (
                <option key={name} value={name}>
                  {ZOOM_WORDS[name]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {zoom && (
          <NumberField
            key={zoom}
            label={ZOOM_WORDS[zoom]}
            value={options[zoom]}
            onChange={(value = Number.NaN) => change({ [zoom]: value })}
            hint={`${BOUNDS[zoom].min} to ${BOUNDS[zoom].max.toLocaleString("en")}.`}
            fault={faultAt(zoom)}
          />
        )}
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
              <option value={8}>8 bits – half the size</option>
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
