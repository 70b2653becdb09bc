import { type ComponentChildren, Fragment } from "preact";
import { useRef } from "preact/hooks";
import { BOUNDS, POSITIONS } from "../../src/index.ts";
import { CONCAT_LABELS, MAX_CONCAT } from "../../src/media/features/concat.ts";
import { POSITION_NAMES } from "../../src/media/features/geometry.ts";
import { OVERLAY_LABELS as LABELS } from "../../src/media/features/overlay.ts";
import { SUBTITLE_LABELS } from "../../src/media/features/subtitles.ts";
import { TEXT_LABELS } from "../../src/media/features/text.ts";
import { TRANSITION_LABEL } from "../../src/media/features/transition.ts";
import { attach, attachedName } from "../queue/attached-files.ts";
import { Field, TextField } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { NumberField } from "../ui/number-field.tsx";
import type { AnyOptions } from "./choices.ts";
import { type Form, numberedLabel, ObjectFields, withBlank, withoutUndefined } from "./form.tsx";
import * as strings from "./strings.ts";

type TextItem = NonNullable<AnyOptions["text"]>[number];
type Subtitles = NonNullable<AnyOptions["subtitles"]>[number];
type CaptionStyle = NonNullable<Subtitles["style"]>;

/** How subtitles are shown; burnt-in ones have neither a name nor a default. */
const SHOWN = {
  track: { burn: undefined, default: undefined, style: undefined },
  default: { burn: undefined, default: true, style: undefined },
  burn: { burn: true, label: undefined, default: undefined },
} as const;
const SHOWN_WORDS = {
  track: strings.subtitleTrack,
  default: strings.subtitleDefault,
  burn: strings.subtitleBurnt,
} as const satisfies Record<keyof typeof SHOWN, string>;

/** A field for an address, beside a button that chooses a file of this device instead. */
function FileField({
  accept,
  value,
  onChange,
  ...field
}: {
  /** The types of files that the file dialog offers, in the form of HTML's `accept`. */
  accept: string;
  label: string;
  hint: ComponentChildren;
  placeholder: string;
  value: string | undefined;
  onChange(value: string | undefined): void;
  fault: string | null;
}) {
  const picker = useRef<HTMLInputElement>(null);
  const name = value === undefined ? null : attachedName(value);
  if (name !== null) {
    return (
      <Field {...field}>
        {(control) => (
          <span class="attached">
            <input {...control} readOnly value={name} />
            <button
              type="button"
              class="quiet icon"
              aria-label={strings.removeFile({ name })}
              onClick={() => onChange(undefined)}
            >
              <Icon name="cancel" />
            </button>
          </span>
        )}
      </Field>
    );
  }
  return (
    <div class="file-field">
      <TextField {...field} type="url" value={value} onChange={onChange} />
      {!value && (
        <button type="button" onClick={() => picker.current?.click()}>
          <Icon name="folder" />
          {strings.chooseFile}
          <span class="visually-hidden">: {field.label}</span>
        </button>
      )}
      <input
        ref={picker}
        type="file"
        hidden
        accept={accept}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) onChange(attach(file));
          currentTarget.value = "";
        }}
      />
    </div>
  );
}

/** Fields for files of subtitles: their addresses, languages and names, and how they are shown. */
export function SubtitleFields({ form: { options, change, faultAt } }: { form: Form }) {
  const files = options.subtitles ?? [];
  const set = (index: number, changes: Partial<Subtitles>) =>
    change({ subtitles: replaceRow(files, index, { url: "", ...files[index], ...changes }) });
  return withBlank(files, BOUNDS.subtitles.max).map((file, index) => (
    <Fragment key={index}>
      <FileField
        accept=".srt,.vtt,.ass,.ssa"
        label={numberedLabel(SUBTITLE_LABELS.url, index)}
        hint={file && strings.subtitleHint}
        placeholder="https://…/english.srt"
        value={file?.url}
        onChange={(url = "") => set(index, { url })}
        fault={faultAt(`subtitles.${index}.url`)}
      />
      {file && (
        <div class="columns">
          <Field label={numberedLabel(strings.shownAs, index)} fault={faultAt("subtitles")}>
            {(control) => (
              <select
                {...control}
                value={file.burn ? "burn" : file.default ? "default" : "track"}
                onChange={({ currentTarget: { value } }) => set(index, SHOWN[value as keyof typeof SHOWN])}
              >
                {Object.entries(SHOWN_WORDS).map(([value, words]) => (
                  <option key={value} value={value}>
                    {words}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <TextField
            label={numberedLabel(SUBTITLE_LABELS.language, index)}
            placeholder="en"
            value={file.language}
            onChange={(language) => set(index, { language })}
            fault={faultAt(`subtitles.${index}.language`)}
          />
          {!file.burn && (
            <TextField
              label={numberedLabel(SUBTITLE_LABELS.label, index)}
              placeholder={strings.english}
              value={file.label}
              onChange={(label) => set(index, { label })}
              fault={faultAt(`subtitles.${index}.label`)}
            />
          )}
        </div>
      )}
      {file?.burn && (
        <CaptionFields
          style={file.style ?? {}}
          change={(style) => set(index, { style })}
          faultOf={(field) => faultAt(`subtitles.${index}.style.${field}`)}
        />
      )}
    </Fragment>
  ));
}

/** Fields for the place, size and colors of burnt-in subtitles. */
function CaptionFields({
  style,
  change,
  faultOf,
}: {
  style: CaptionStyle;
  change(style: CaptionStyle | undefined): void;
  faultOf(field: keyof CaptionStyle): string | null;
}) {
  const set = (changes: CaptionStyle) => {
    const all = withoutUndefined({ ...style, ...changes });
    change(Object.keys(all).length > 0 ? all : undefined);
  };
  const colorOf = (field: "color" | "outline", fallback: string) => (
    <ColorField
      label={SUBTITLE_LABELS[field]}
      value={style[field]}
      fallback={fallback}
      onChange={(color) => set({ [field]: color })}
      fault={faultOf(field)}
    />
  );
  return (
    <div class="columns">
      <PlaceField
        label={SUBTITLE_LABELS.position}
        value={style.position ?? null}
        none={strings.placeOfFile}
        onChange={(position) => set({ position })}
        fault={faultOf("position")}
      />
      <LengthField
        label={SUBTITLE_LABELS.size}
        lengths={TEXT_SIZES}
        value={style.size}
        none={strings.usualSize}
        name={strings.shareOfHeight}
        onChange={(size) => set({ size })}
        fault={faultOf("size")}
      />
      {colorOf("color", "#ffffff")}
      {colorOf("outline", "#000000")}
      <Field label={SUBTITLE_LABELS.box} fault={faultOf("box")}>
        {(control) => (
          <select
            {...control}
            value={style.box ?? OWN}
            onChange={({ currentTarget: { value } }) => set({ box: value === OWN ? undefined : value })}
          >
            <option value={OWN}>{strings.noBox}</option>
            {[...new Set([...Object.keys(strings.boxes), ...(style.box ? [style.box] : [])])].map((box) => (
              <option key={box} value={box}>
                {strings.boxes[box] ?? box}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}

/** Fields for the addresses of videos that play after this one, and for the cross-fades between them. */
export function ConcatFields({ form: { options, change, faultAt } }: { form: Form }) {
  const videos = options.concat ?? [];
  const addresses = withBlank(videos, MAX_CONCAT).map((video, index) => (
    <FileField
      accept="video/*,.mkv"
      key={index}
      label={numberedLabel(CONCAT_LABELS.url, index)}
      hint={video && index === 0 ? strings.concatHint : undefined}
      placeholder="https://…/next.mp4"
      value={video?.url}
      onChange={(url = "") => {
        const all = replaceRow(videos, index, { ...video, url });
        change({ concat: all, ...(!all && { transition: undefined }) });
      }}
      fault={faultAt(`concat.${index}.url`)}
    />
  ));
  if (videos.length === 0) return addresses;
  return [
    ...addresses,
    <NumberField
      key="transition"
      label={TRANSITION_LABEL}
      value={options.transition?.seconds}
      onChange={(seconds) =>
        change({ transition: seconds === undefined ? undefined : { kind: "fade", seconds } })
      }
      fault={faultAt("transition.seconds")}
    />,
  ];
}

/** Fields for the ranges of the input to play, in their order; they replace the trim. */
export function PartFields({ form }: { form: Form }) {
  const change = (parts: AnyOptions) => form.change({ ...parts, start: undefined, end: undefined });
  return <ObjectFields form={{ ...form, change }} name="parts" />;
}

const TEXT_SIZES = ["4%", "6%", "8%", "12%", "20%"] as const;
const DEFAULT_TEXT_SIZE = "6%";
const DEFAULT_TEXT_COLOR = "#ffffff";
const RGB = /^#[\da-f]{6}$/i;

/** Fields for the texts to draw over the pictures: the words, where and when they are shown, their height and their color. */
export function TextFields({ form: { settings, options, change, faultAt } }: { form: Form }) {
  const texts = options.text ?? [];
  const set = (index: number, changes: Partial<TextItem>) => {
    const item = withoutUndefined({ position: "bottom", text: "", ...texts[index], ...changes } as TextItem);
    const all = [...texts.slice(0, index), ...(item.text === "" ? [] : [item]), ...texts.slice(index + 1)];
    change({ text: all.length > 0 ? all : undefined });
  };
  return withBlank(texts, BOUNDS.texts.max).map((item, index) => {
    const { size = DEFAULT_TEXT_SIZE, position } = item ?? {};
    const at = (field: keyof TextItem) => faultAt(`text.${index}.${field}`);
    return (
      <Fragment key={index}>
        <TextField
          label={numberedLabel(TEXT_LABELS.text, index)}
          placeholder={strings.textExample}
          value={item?.text}
          onChange={(text = "") => set(index, { text })}
          fault={at("text")}
        />
        {item && (
          <div class="columns">
            <PlaceField
              label={numberedLabel(TEXT_LABELS.position, index)}
              value={position}
              onChange={(place) => set(index, { position: place })}
              fault={at("position")}
            />
            <LengthField
              label={numberedLabel(TEXT_LABELS.size, index)}
              lengths={TEXT_SIZES}
              value={size}
              name={strings.shareOfHeight}
              onChange={(length) => set(index, { size: length })}
              fault={at("size")}
            />
            <ColorField
              label={numberedLabel(TEXT_LABELS.color, index)}
              value={item.color}
              fallback={DEFAULT_TEXT_COLOR}
              onChange={(color) => set(index, { color })}
              fault={at("color")}
            />
          </div>
        )}
        {item && settings.kind !== "image" && (
          <SpanFields
            labels={{
              start: numberedLabel(TEXT_LABELS.start, index),
              end: numberedLabel(TEXT_LABELS.end, index),
            }}
            value={item}
            onChange={(span) => set(index, span)}
            faultOf={at}
          />
        )}
      </Fragment>
    );
  });
}

/** Fields for the addresses of fonts, where something is written into the pictures. */
export function FontFields({ form }: { form: Form }) {
  const { text = [], subtitles = [] } = form.options;
  const isNeeded = text.length > 0 || subtitles.some(({ burn }) => burn);
  return isNeeded ? <ObjectFields form={form} name="fonts" hint={strings.fontHint} /> : null;
}

function replaceRow<T extends { url: string }>(rows: readonly T[], index: number, row: T): T[] | undefined {
  const all = [...rows.slice(0, index), ...(row.url === "" ? [] : [row]), ...rows.slice(index + 1)];
  return all.length > 0 ? all : undefined;
}

const WIDTHS = ["10%", "20%", "30%", "50%", "100%"] as const;
const OPACITIES = [1, 0.75, 0.5, 0.25] as const;
const OWN = "";

/** A picture to lay over a video or an image: its address, where and when it is shown, how large and how clearly. */
export function OverlayFields({ form: { settings, options, change, faultAt } }: { form: Form }) {
  const { overlay } = options;
  const { opacity = 1 } = overlay ?? {};
  const set = (changes: Partial<NonNullable<AnyOptions["overlay"]>>) =>
    overlay && change({ overlay: withoutUndefined({ ...overlay, ...changes }) });
  return (
    <>
      <FileField
        accept="image/*"
        label={LABELS.url}
        hint={overlay && strings.overlayHint}
        placeholder="https://…/logo.png"
        value={overlay?.url}
        onChange={(url) =>
          change({
            overlay:
              url === undefined ? undefined : { position: "bottom-right", width: "20%", ...overlay, url },
          })
        }
        fault={faultAt("overlay.url")}
      />
      {overlay && (
        <div class="columns">
          <PlaceField
            label={LABELS.position}
            value={overlay.position}
            onChange={(position) => set({ position })}
            fault={faultAt("overlay.position")}
          />
          <LengthField
            label={LABELS.width}
            lengths={WIDTHS}
            value={overlay.width}
            none={strings.originalSize}
            name={strings.shareOfWidth}
            onChange={(width) => set({ width })}
            fault={faultAt("overlay.width")}
          />
          <Field label={LABELS.opacity} fault={faultAt("overlay.opacity")}>
            {(control) => (
              <select
                {...control}
                value={String(opacity)}
                onChange={({ currentTarget: { value } }) =>
                  set({ opacity: Number(value) === 1 ? undefined : Number(value) })
                }
              >
                {[...new Set([...OPACITIES, opacity])].map((each) => (
                  <option key={each} value={each}>
                    {Number((each * 100).toFixed(1))} %
                  </option>
                ))}
              </select>
            )}
          </Field>
        </div>
      )}
      {overlay && settings.kind === "video" && (
        <SpanFields
          labels={LABELS}
          value={overlay}
          onChange={set}
          faultOf={(field) => faultAt(`overlay.${field}`)}
        />
      )}
    </>
  );
}

type Place = TextItem["position"];

/** A field for a color without opacity; `fallback` is the color of an absent value. */
function ColorField({
  label,
  value = "",
  fallback,
  onChange,
  fault,
}: {
  label: string;
  value: string | undefined;
  fallback: string;
  onChange(color: string): void;
  fault: string | null;
}) {
  return (
    <Field label={label} fault={fault}>
      {(control) => (
        <input
          {...control}
          type="color"
          value={RGB.test(value) ? value : fallback}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

/**
 * A field for a named place in the pictures, or for coordinates from a preset or a task; `none` labels the choice of no place, whose value
 * is null.
 */
function PlaceField({
  label,
  value = "center",
  none,
  onChange,
  fault,
}: {
  label: string;
  value: Place | null;
  none?: string;
  onChange(place: (typeof POSITIONS)[number] | undefined): void;
  fault: string | null;
}) {
  const isNamed = typeof value === "string";
  return (
    <Field label={label} fault={fault}>
      {(control) => (
        <select
          {...control}
          value={isNamed ? value : value ? OWN : "none"}
          onChange={({ currentTarget }) => onChange(POSITIONS.find((each) => each === currentTarget.value))}
        >
          {none !== undefined && <option value="none">{none}</option>}
          {!isNamed && value && <option value={OWN}>{strings.custom}</option>}
          {POSITIONS.map((each) => (
            <option key={each} value={each}>
              {POSITION_NAMES[each]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A field for one of some lengths in pixels or as a share of a side of the output; `none` names the choice of no length. */
function LengthField({
  label,
  lengths,
  value,
  none,
  name,
  onChange,
  fault,
}: {
  label: string;
  lengths: readonly string[];
  value: string | number | undefined;
  none?: string;
  name(share: { share: string }): string;
  onChange(length: string | number | undefined): void;
  fault: string | null;
}) {
  const all = [...new Set([...lengths, ...(value === undefined ? [] : [value])])];
  return (
    <Field label={label} fault={fault}>
      {(control) => (
        <select
          {...control}
          value={String(value ?? OWN)}
          onChange={({ currentTarget }) => onChange(all.find((each) => String(each) === currentTarget.value))}
        >
          {none !== undefined && <option value={OWN}>{none}</option>}
          {all.map((each) => (
            <option key={each} value={String(each)}>
              {typeof each === "number"
                ? strings.lengthInPixels({ count: each })
                : name({ share: each.replace("%", " %") })}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface Span {
  start?: number | undefined;
  end?: number | undefined;
}

/** Fields for the seconds of the output between which something is shown. */
function SpanFields({
  labels,
  value: { start, end },
  onChange,
  faultOf,
}: {
  labels: Readonly<Record<keyof Span, string>>;
  value: Span;
  onChange(change: Span): void;
  faultOf(field: keyof Span): string | null;
}) {
  return (
    <div class="columns">
      <NumberField
        label={labels.start}
        value={start}
        onChange={(seconds) => onChange({ start: seconds })}
        placeholder={strings.atStart}
        fault={faultOf("start")}
      />
      <NumberField
        label={labels.end}
        value={end}
        onChange={(seconds) => onChange({ end: seconds })}
        placeholder={strings.never}
        fault={faultOf("end")}
      />
    </div>
  );
}
