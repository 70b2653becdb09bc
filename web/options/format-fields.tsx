import { type EncodeKind, FORMATS, VIDEO_CODECS } from "../../src/index.ts";
import { Field } from "../ui/field.tsx";
import { Segments } from "../ui/segments.tsx";
import { codecName, formatName } from "../words/names.ts";
import { formatOf, kindsFor, turnInto } from "./choices.ts";
import type { Form } from "./use-form.ts";
import { CODEC_USES, FORMAT_USES, KIND_WORDS } from "./words.ts";

export function FormatFields({ form }: { form: Form }) {
  const { source, wishes, options, change, faultAt } = form;
  const kinds = kindsFor(source);
  const format = formatOf(wishes.kind, options, source);
  const isWaveform = wishes.kind === "waveform";
  return (
    <>
      {kinds.length > 1 && (
        <Segments<EncodeKind>
          label="Becomes"
          choices={kinds.map((kind) => ({ value: kind, label: KIND_WORDS[kind] }))}
          value={wishes.kind}
          onChange={(kind) => form.wish((now) => turnInto(kind, now))}
        />
      )}
      <div class="columns">
        <Field label="Format" fault={faultAt("format")}>
          {(control) => (
            <select
              {...control}
              value={format}
              onChange={({ currentTarget }) =>
                change({ ...(isWaveform && UNDRAWN), format: currentTarget.value })
              }
            >
              {offered(wishes.kind).map((key) => (
                <option key={key} value={key}>
                  {formatName(key)} – {FORMAT_USES[key]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {wishes.kind === "video" && <CodecField form={form} format={format} />}
      </div>
    </>
  );
}

// Peaks alone have none of these.
const UNDRAWN = {
  ...{ width: undefined, height: undefined },
  waveform_color: undefined,
  background_color: undefined,
};

// The page plays streams with hls.js.
function offered(kind: EncodeKind): string[] {
  return Object.keys(FORMATS[kind]).filter((format) => format !== "dash");
}

function CodecField({ form: { options, change, faultAt }, format }: { form: Form; format: string }) {
  const held: readonly string[] = FORMATS.video[format as keyof typeof FORMATS.video]?.codecs ?? [];
  const name = formatName(format);
  return (
    <Field label="Codec" fault={faultAt("codec")}>
      {(control) => (
        <select
          {...control}
          value={options.codec ?? ""}
          onChange={({ currentTarget }) => change({ codec: currentTarget.value || undefined })}
        >
          <option value="">
            Usual for {name} ({codecName(held[0] ?? "")})
          </option>
          {VIDEO_CODECS.map((codec) => (
            <option key={codec} value={codec}>
              {codecName(codec)} – {held.includes(codec) ? CODEC_USES[codec] : `not in ${name}`}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
