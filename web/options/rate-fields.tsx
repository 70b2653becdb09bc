import { useState } from "preact/hooks";
import { FORMATS, QUALITIES, type VideoFormat } from "../../src/index.ts";
import { hasQuality } from "../../src/media/containers.ts";
import { byteLimit, qualityWords as QUALITY } from "../../src/media/features/rate.ts";
import { type AutoQuality, isLosslessFormat } from "../../src/media/formats.ts";
import { optionControl } from "../../src/media/option-groups.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { Segments } from "../ui/segments.tsx";
import { formatName } from "../words/names.ts";
import { bytes as sizeWords } from "../words/quantities.ts";
import { checkSettings } from "./check-settings.ts";
import { bitrateBounds, formatOf, hasBitrate, MEASURABLE, withOptions } from "./choices.ts";
import type { Form } from "./form.tsx";
import * as strings from "./strings.ts";

const WAYS = [
  { value: "quality", label: strings.quality },
  { value: "size", label: strings.fileSize },
  { value: "bitrate", label: strings.bitrate },
] as const;

type Way = (typeof WAYS)[number]["value"];

const DEFAULT_BITRATE = { video: 2_500_000, audio: 128_000 } as const;
const MEGABYTE = 1_000_000;

/** The quality or size of the output: by quality level, by bitrate, or by file size. */
export function RateFields({ form }: { form: Form }) {
  const { source, settings, options, change } = form;
  const { kind } = settings;
  const format = formatOf(kind, options, source);
  const way: Way =
    settings.target_size !== null ? "size" : options.bitrate !== undefined ? "bitrate" : "quality";
  const choose = (next: Way) => {
    form.update((now) => {
      const plain = withOptions({ ...now, target_size: null }, { bitrate: undefined, mode: undefined });
      if (next === "size") return { ...plain, target_size: defaultBytes(source.filesize) };
      if (next === "quality") return plain;
      return withOptions(plain, { bitrate: DEFAULT_BITRATE[kind === "audio" ? "audio" : "video"] });
    });
  };
  return (
    <>
      {(kind === "video" || kind === "audio") && (
        <Segments<Way> label={strings.controlBy} choices={WAYS} value={way} onChange={choose} />
      )}
      {way === "quality" && <QualityField form={form} format={format} />}
      {way === "bitrate" && (
        <NumberField
          label={optionControl(kind, "bitrate", options.bitrate).label}
          value={options.bitrate === undefined ? undefined : options.bitrate / 1000}
          onChange={(value) =>
            change({ bitrate: value === undefined ? Number.NaN : Math.round(value * 1000) })
          }
          hint={bitrateHint(form, format)}
          fault={form.faultAt("bitrate")}
        />
      )}
      {way === "size" && <SizeOfFile form={form} />}
      {kind === "image" && options.interval === undefined && options.count === undefined && (
        <NumberField
          label={optionControl("image", "max_bytes", options.max_bytes).label}
          value={options.max_bytes === undefined ? undefined : options.max_bytes / 1000}
          onChange={(value) =>
            change({ max_bytes: value === undefined ? undefined : Math.round(value * 1000) })
          }
          hint={byteLimit.options.max_bytes.words.hint?.(options.max_bytes)}
          fault={form.faultAt("max_bytes")}
        />
      )}
    </>
  );
}

const AS_IT_IS = { value: "as_it_is", label: strings.keepOriginal } as const;

const COPIED: ReadonlySet<string> = new Set(["video", "audio"]);

const COPY_WORDS = {
  video: strings.videoCopied,
  audio: strings.audioCopied,
} as const;

function QualityField({ form, format }: { form: Form; format: string }) {
  const { source, settings, options, change } = form;
  const copied = (mode?: "copy") => {
    const { forecast } = checkSettings(withOptions(settings, { quality: undefined, mode }), source);
    return forecast?.copied ? forecast : null;
  };
  const plainly = copied() !== null;
  const copy = plainly || !COPIED.has(settings.kind) ? null : copied("copy");
  const mayCopy = plainly || copy !== null || options.mode === "copy";
  const quality = options.quality ?? (plainly || options.mode === "copy" ? AS_IT_IS.value : "medium");
  const names = offersAuto(settings.kind, format) ? ([...QUALITIES, "auto"] as const) : QUALITIES;
  const steps = names.map((value) => ({ value, label: QUALITY.choice(value) }));
  return (
    <Segments<AutoQuality | typeof AS_IT_IS.value>
      label={QUALITY.label}
      choices={mayCopy ? [AS_IT_IS, ...steps] : steps}
      value={quality}
      onChange={(value) =>
        change(
          value === AS_IT_IS.value
            ? { quality: undefined, ...(copy && { mode: "copy", format: copy.format }) }
            : { quality: value, mode: undefined },
        )
      }
      hint={
        quality !== AS_IT_IS.value
          ? qualityHint(form, format, quality)
          : options.mode === "copy"
            ? COPY_WORDS[settings.kind === "audio" ? "audio" : "video"]
            : strings.copied
      }
      fault={form.faultAt("quality")}
    />
  );
}

function offersAuto(kind: string, format: string): boolean {
  return MEASURABLE.has(kind) && (kind === "video" || hasQuality(format));
}

function defaultBytes(filesize: number | undefined): number {
  return filesize ? Number((filesize / 2).toPrecision(2)) : 10 * MEGABYTE;
}

// docs/benchmarks.md, browser-speed-vs-native: 3.3 MB instead of the browser's 9.8 MB.
function holdsH264(kind: string, format: string): boolean {
  const codecs: readonly string[] | undefined = FORMATS.video[format as VideoFormat]?.codecs;
  return kind === "adaptive_video" || codecs?.includes("h264") === true;
}

const GIF_WORDS = {
  very_low: strings.gif64Colors,
  low: strings.gif128Colors,
  medium: strings.gif256Colors,
  high: strings.gif256ColorsSmooth,
  very_high: strings.gif256ColorsSmooth,
  auto: strings.gif256ColorsSmooth,
} as const satisfies Record<AutoQuality, string>;

function qualityHint({ source, settings, options }: Form, format: string, quality: AutoQuality): string {
  const { kind } = settings;
  const { codec = "h264" } = options;
  const name = formatName(format);
  if (kind === "animation" && format === "gif") return GIF_WORDS[quality];
  if (format === "gif") return strings.gifQuality;
  if (format === "flac") return strings.flacQuality;
  if (isLosslessFormat(kind, format)) return strings.losslessQuality({ name });
  const meaning = QUALITY.hint(quality);
  const isH264 = source.kind !== "audio" && holdsH264(kind, format) && codec === "h264";
  return isH264 ? `${meaning} ${strings.encodedWithX264}` : meaning;
}

function bitrateHint({ settings: { kind } }: Form, format: string): string {
  if (!hasBitrate(kind, format)) return strings.losslessBitrate({ name: formatName(format) });
  const { min, max } = bitrateBounds(kind);
  const range = { min: min / 1000, max: max / 1000 };
  return kind === "video" ? strings.videoBitrateRange(range) : strings.bitrateRange(range);
}

/** The limits of Discord, WhatsApp and most mail servers. */
const LIMITS = [10_000_000, 16_000_000, 20_000_000] as const;

const UNITS = { kB: 1000, MB: 1_000_000 } as const;

type Unit = keyof typeof UNITS;

function SizeOfFile({ form }: { form: Form }) {
  const { settings, update, faultAt } = form;
  const bytes = settings.target_size ?? Number.NaN;
  const [unit, setUnit] = useState<Unit>(bytes < UNITS.MB ? "kB" : "MB");
  const set = (target_size: number) =>
    update((now) => ({ ...now, target_size: Math.round(target_size), preset: null }));
  return (
    <>
      <div class="columns narrow-last">
        <NumberField
          label={strings.maxFileSize({ unit })}
          value={bytes / UNITS[unit]}
          onChange={(value) => set((value ?? Number.NaN) * UNITS[unit])}
          hint={strings.maxFileSizeHint}
          fault={faultAt("target_size")}
        />
        <Field label={strings.unit}>
          {(control) => (
            <select
              {...control}
              value={unit}
              onChange={({ currentTarget }) => {
                const newUnit = currentTarget.value as Unit;
                set((bytes / UNITS[unit]) * UNITS[newUnit]);
                setUnit(newUnit);
              }}
            >
              {Object.keys(UNITS).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <div class="chips">
        {LIMITS.map((limit) => (
          <button
            key={limit}
            type="button"
            aria-pressed={bytes === limit}
            onClick={() => {
              setUnit("MB");
              set(limit);
            }}
          >
            {sizeWords(limit)}
          </button>
        ))}
      </div>
    </>
  );
}
