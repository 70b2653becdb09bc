import { type EncodeKind, FORMATS, VIDEO_CODECS } from "../../src/index.ts";
import { isDrawnWaveform, lacksHls } from "../../src/media/formats.ts";
import { optionControl, optionLabel } from "../../src/media/option-groups.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { Segments } from "../ui/segments.tsx";
import { codecName, formatName } from "../words/names.ts";
import { withFormat } from "./check-settings.ts";
import { formatOf, kindsFor, withKind } from "./choices.ts";
import { type Form, OptionField } from "./form.tsx";
import { TrackField } from "./sound-fields.tsx";
import * as strings from "./strings.ts";

export function FormatFields({ form }: { form: Form }) {
  const { source, settings, options, faultAt } = form;
  const kinds = kindsFor(source);
  const format = formatOf(settings.kind, options, source);
  return (
    <>
      {kinds.length > 1 && (
        <Segments<EncodeKind>
          label={strings.becomes}
          choices={kinds.map((kind) => ({ value: kind, label: strings.kinds[kind] }))}
          value={settings.kind}
          onChange={(kind) => form.update((now) => withKind(kind, now))}
        />
      )}
      <div class="columns">
        <Field label={strings.format} fault={faultAt("format")}>
          {(control) => (
            <select
              {...control}
              value={format}
              onChange={({ currentTarget }) =>
                form.update((now) => withFormat(now, currentTarget.value, source))
              }
            >
              {Object.keys(FORMATS[settings.kind]).map((key) => (
                <option key={key} value={key}>
                  {formatName(key)} – {strings.formatUses[key]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {settings.kind === "video" && <CodecField form={form} format={format} />}
        {settings.kind === "adaptive_video" && source.kind !== "audio" && !lacksHls(format) && (
          <OptionField form={form} name="i_frames" />
        )}
        {settings.kind === "adaptive_video" && source.kind !== "audio" && (
          <OptionField form={form} name="codecs" />
        )}
      </div>
    </>
  );
}

function CodecField({ form: { options, change, faultAt }, format }: { form: Form; format: string }) {
  const codecs: readonly string[] = FORMATS.video[format as keyof typeof FORMATS.video]?.codecs ?? [];
  const name = formatName(format);
  return (
    <Field label={strings.codec} fault={faultAt("codec")}>
      {(control) => (
        <select
          {...control}
          value={options.codec ?? ""}
          onChange={({ currentTarget }) => change({ codec: currentTarget.value || undefined })}
        >
          <option value="">{strings.usualCodec({ name, codec: codecName(codecs[0] ?? "") })}</option>
          {VIDEO_CODECS.map((codec) => (
            <option key={codec} value={codec}>
              {codecName(codec)} –{" "}
              {codecs.includes(codec) ? strings.codecUses[codec] : strings.notIn({ name })}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

const WAYS = [
  { value: "one", label: strings.one },
  { value: "count", label: strings.severalEvenlySpaced },
  { value: "interval", label: strings.oneEveryFewSeconds },
] as const;

type Way = (typeof WAYS)[number]["value"];

const STILLS_DEFAULTS = { count: 10, interval: 10 } as const;

/** Which pictures to take from a video: one, a number of them, or one every few seconds. */
export function StillsFields({ form: { options, change, faultAt } }: { form: Form }) {
  const { interval, count } = options;
  const way: Way = interval !== undefined ? "interval" : count !== undefined ? "count" : "one";
  const choose = (next: Way) => {
    const { max_bytes } = options;
    const none = {
      interval: undefined,
      count: undefined,
      max_bytes: next === "one" ? max_bytes : undefined,
    };
    change(next === "one" ? none : { ...none, [next]: STILLS_DEFAULTS[next] });
  };
  const control = way === "one" ? null : optionControl("image", way, options[way]);
  return (
    <>
      <Segments<Way> label={strings.pictures} choices={WAYS} value={way} onChange={choose} />
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
      <p class="soft small">{strings.storyboardPurpose}</p>
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

const ZOOMS = ["pixels_per_second", "points", "samples_per_pixel"] as const;
const ZOOM_DEFAULTS = { pixels_per_second: 100, points: 1000, samples_per_pixel: 512 } as const;
const UNZOOMED = { pixels_per_second: undefined, points: undefined, samples_per_pixel: undefined } as const;

/** How close the points of a waveform are, of which channels, and how it is drawn. */
export function WaveformFields({ form }: { form: Form }) {
  const { options, change, faultAt } = form;
  const isDrawn = isDrawnWaveform(options.format);
  const zooms = isDrawn ? ZOOMS.filter((name) => name !== "points") : ZOOMS;
  const zoom = zooms.find((name) => options[name] !== undefined);
  return (
    <>
      <div class="columns">
        <Field label={strings.points}>
          {(control) => (
            <select
              {...control}
              value={zoom ?? ""}
              onChange={({ currentTarget: { value } }) => {
                const choice = zooms.find((name) => name === value);
                change({ ...UNZOOMED, ...(choice && { [choice]: ZOOM_DEFAULTS[choice] }) });
              }}
            >
              <option value="">{isDrawn ? strings.pointsForAll : strings.pointEvery256Samples}</option>
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
  const { label, default: defaultColor } = optionControl("waveform", name, options[name]);
  return (
    <Field label={label} fault={faultAt(name)}>
      {(control) => (
        <input
          {...control}
          type="color"
          value={options[name] ?? String(defaultColor)}
          onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
        />
      )}
    </Field>
  );
}
