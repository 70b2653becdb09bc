import { type EncodeKind, FORMATS, VIDEO_CODECS } from "../../src/index.ts";
import { Field } from "../ui/field.tsx";
import { Segments } from "../ui/segments.tsx";
import { codecName, formatName } from "../words/names.ts";
import { withFormat } from "./check-wishes.ts";
import { formatOf, kindsFor, turnInto } from "./choices.ts";
import { OptionField } from "./option-field.tsx";
import type { Form } from "./use-form.ts";
import { CODEC_USES, FORMAT_USES, KIND_WORDS } from "./words.ts";

export function FormatFields({ form }: { form: Form }) {
  const { source, wishes, options, faultAt } = form;
  const kinds = kindsFor(source);
  const format = formatOf(wishes.kind, options, source);
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
                form.wish((now) => withFormat(now, currentTarget.value, source))
              }
            >
              {Object.keys(FORMATS[wishes.kind]).map((key) => (
                <option key={key} value={key}>
                  {formatName(key)} – {FORMAT_USES[key]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {wishes.kind === "video" && <CodecField form={form} format={format} />}
        {wishes.kind === "adaptive_video" && source.kind !== "audio" && format !== "dash" && (
          <OptionField form={form} name="i_frames" />
        )}
      </div>
    </>
  );
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
