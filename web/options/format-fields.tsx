import { type EncodeKind, FORMATS, type Source, VIDEO_CODECS } from "../../src/index.ts";
import type { Wishes } from "../queue/item.ts";
import { Field } from "../ui/field.tsx";
import { Segments } from "../ui/segments.tsx";
import { codecName, formatName } from "../words/names.ts";
import { checkWishes } from "./check-wishes.ts";
import { type AnyOptions, formatOf, kindsFor, turnInto, withOptions } from "./choices.ts";
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
        {wishes.kind === "adaptive_video" && format !== "dash" && <IFramesField form={form} />}
      </div>
    </>
  );
}

// A picture has no bits, and peaks alone have none of the others.
const UNDRAWN = {
  ...{ bits: undefined, points: undefined, width: undefined, height: undefined },
  waveform_color: undefined,
  background_color: undefined,
};

// What formats hold differs in these.
const OF_FORMAT = ["audio_codec", "channels", "sample_rate"] as const;

/** Changes the format, and takes back what it rules out. */
function withFormat(wishes: Wishes, format: string, source: Source): Wishes {
  const { mode } = wishes.options as AnyOptions;
  const undone = {
    ...(wishes.kind === "waveform" && UNDRAWN),
    ...(format === "dash" && { i_frames: undefined }),
  };
  const changed = OF_FORMAT.reduce(
    (now, name) =>
      checkWishes(now, source).fault?.field === name ? withOptions(now, { [name]: undefined }) : now,
    withOptions(wishes, { ...undone, format }),
  );
  const isBarred = mode === "copy" && checkWishes(changed, source).fault !== null;
  return isBarred ? withOptions(changed, { mode: undefined }) : changed;
}

// What Apple's players show while a viewer seeks; DASH has no such playlists.
function IFramesField({ form: { options, change, faultAt } }: { form: Form }) {
  return (
    <Field label="Pictures while seeking" fault={faultAt("i_frames")}>
      {(control) => (
        <select
          {...control}
          value={options.i_frames ? "yes" : "no"}
          onChange={({ currentTarget }) =>
            change({ i_frames: currentTarget.value === "yes" ? true : undefined })
          }
        >
          <option value="no">None</option>
          <option value="yes">Every six seconds</option>
        </select>
      )}
    </Field>
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
