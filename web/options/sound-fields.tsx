import {
  FORMATS,
  SAMPLE_RATES,
  SOUND_CODECS,
  type Source,
  TARGET_LUFS,
  type VideoFormat,
} from "../../src/index.ts";
import { audioFilters } from "../../src/media/features/audio-filters.ts";
import { audioFormat } from "../../src/media/features/audio-format.ts";
import { optionControl, optionLabel } from "../../src/media/option-groups.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { codecName, formatName, languageName } from "../words/names.ts";
import { type AnyOptions, formatOf } from "./choices.ts";
import { type Form, OptionField } from "./form.tsx";
import * as strings from "./strings.ts";

const { words: VOLUME_WORDS } = audioFilters.options.volume;
const { words: LOUDNESS, choices: TARGETS = [] } = audioFilters.options.target_lufs;
const KEEP = "keep";
const MUTE = "mute";
const VOLUME = "volume";
const OTHER = "other";

const { words: RATE } = audioFormat.options.sample_rate;
const STUDIO_RATES = [88_200, 96_000, 192_000] as const;

/** How loud the sound is, how it is stored, and how it begins and ends. */
export function SoundFields({ form }: { form: Form }) {
  const { source, settings, options, change, faultAt } = form;
  if (source.codecs && source.codecs.audio === null) return null;
  const { kind } = settings;
  const { mute, volume, audio_bitrate } = options;
  const bitrate = optionControl("video", "audio_bitrate", audio_bitrate);
  return (
    <fieldset class="group">
      <legend>{strings.sound}</legend>
      <div class="columns">
        <LoudnessField form={form} mayMute={kind !== "audio" && source.kind !== "audio"} />
        {volume !== undefined && (
          <NumberField
            label={VOLUME_WORDS.label}
            value={volume}
            onChange={(value = Number.NaN) => change({ volume: value })}
            hint={VOLUME_WORDS.hint?.(volume)}
            fault={faultAt("volume")}
          />
        )}
      </div>
      {!mute && (
        <>
          {kind === "video" && (
            <div class="columns">
              <CodecField form={form} />
              <NumberField
                label={bitrate.label}
                value={audio_bitrate === undefined ? undefined : audio_bitrate / 1000}
                onChange={(value) =>
                  change({ audio_bitrate: value === undefined ? undefined : Math.round(value * 1000) })
                }
                placeholder={bitrate.empty}
                hint={bitrate.hint}
                fault={faultAt("audio_bitrate")}
              />
            </div>
          )}
          <div class="columns">
            <OptionField form={form} name="channels" />
            <RateField form={form} />
          </div>
          <TrackField form={form} />
          <div class="columns">
            <OptionField form={form} name="fade_in" />
            <OptionField form={form} name="fade_out" />
          </div>
        </>
      )}
    </fieldset>
  );
}

function CodecField({ form: { source, options, change, faultAt } }: { form: Form }) {
  const format = formatOf("video", options, source);
  const codecs: readonly string[] = SOUND_CODECS[format as VideoFormat] ?? [];
  return (
    <Field label={optionLabel("audio_codec")} fault={faultAt("audio_codec")}>
      {(control) => (
        <select
          {...control}
          value={options.audio_codec ?? ""}
          onChange={({ currentTarget: { value } }) =>
            change({ audio_codec: codecNamed(value), ...(value === "opus" && { sample_rate: undefined }) })
          }
        >
          <option value="">
            {strings.usualCodec({ name: formatName(format), codec: codecName(codecs[0] ?? "") })}
          </option>
          {codecs.map((codec) => (
            <option key={codec} value={codec}>
              {codecName(codec)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function codecNamed(name: string): AnyOptions["audio_codec"] {
  return Object.values(SOUND_CODECS)
    .flat()
    .find((codec) => codec === name);
}

function RateField({ form }: { form: Form }) {
  const { source, settings, options, change, faultAt } = form;
  const { sample_rate } = options;
  const codec = soundCodec(settings.kind, options, source);
  if (codec === "opus" && sample_rate === undefined) return null;
  const isLossless = codec === "flac" || codec === "pcm_s16le";
  const rates: number[] = [...SAMPLE_RATES, ...(isLossless ? STUDIO_RATES : [])];
  const all = sample_rate === undefined || rates.includes(sample_rate) ? rates : [...rates, sample_rate];
  return (
    <Field label={RATE.label} fault={faultAt("sample_rate")}>
      {(control) => (
        <select
          {...control}
          value={String(sample_rate ?? "")}
          onChange={({ currentTarget }) => change({ sample_rate: Number(currentTarget.value) || undefined })}
        >
          <option value="">{RATE.choice?.(undefined)}</option>
          {all.map((rate) => (
            <option key={rate} value={rate}>
              {RATE.choice?.(rate)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function soundCodec(kind: Form["settings"]["kind"], options: AnyOptions, source: Source): string {
  const format = formatOf(kind, options, source);
  if (kind === "adaptive_video") return "aac";
  if (kind === "audio") return FORMATS.audio[format as keyof typeof FORMATS.audio]?.codec ?? "";
  return options.audio_codec ?? SOUND_CODECS[format as VideoFormat]?.[0] ?? "";
}

const UNSHAPED = {
  mute: undefined,
  normalize: undefined,
  target_lufs: undefined,
  volume: undefined,
} as const;

function LoudnessField({ form: { options, change, faultAt }, mayMute }: { form: Form; mayMute: boolean }) {
  const { mute, normalize, volume, target_lufs = TARGET_LUFS } = options;
  const target = TARGETS.find((target) => target === target_lufs);
  const leveled = normalize ? String(target ?? OTHER) : null;
  const value = mute ? MUTE : (leveled ?? (volume === undefined ? KEEP : VOLUME));
  const choose = (choice: string) => {
    if (choice === OTHER) return;
    const target = TARGETS.find((each) => String(each) === choice);
    if (choice !== MUTE) {
      change({
        ...UNSHAPED,
        ...(target !== undefined && { normalize: true, target_lufs: target }),
        ...(choice === VOLUME && { volume: 1 }),
      });
      return;
    }
    const silent = {
      channels: undefined,
      sample_rate: undefined,
      track: undefined,
      audio_codec: undefined,
      audio_bitrate: undefined,
    };
    change({ ...UNSHAPED, ...silent, fade_in: undefined, fade_out: undefined, mute: true });
  };
  return (
    <Field
      label={LOUDNESS.label}
      fault={faultAt("target_lufs")}
      hint={normalize ? LOUDNESS.hint?.(target_lufs) : undefined}
    >
      {(control) => (
        <select {...control} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          <option value={KEEP}>{strings.asInSource}</option>
          {TARGETS.map((target) => (
            <option key={target} value={target}>
              {LOUDNESS.choice?.(target)}
            </option>
          ))}
          <option value={VOLUME}>{strings.louderOrSofter}</option>
          {(mayMute || mute) && <option value={MUTE}>{strings.noSound}</option>}
          {value === OTHER && <option value={OTHER}>{strings.custom}</option>}
        </select>
      )}
    </Field>
  );
}

/** Which sound track to take from a source that has several. */
export function TrackField({ form: { source, settings, options, change, faultAt } }: { form: Form }) {
  const tracks = source.streams?.filter(({ kind }) => kind === "audio") ?? [];
  if (tracks.length < 2) return null;
  return (
    <Field label={optionLabel("track")} fault={faultAt("track")}>
      {(control) => (
        <select
          {...control}
          value={options.track ?? ""}
          onChange={({ currentTarget: { value } }) =>
            change({ track: value === "" ? undefined : Number(value) })
          }
        >
          <option value="">{settings.kind === "adaptive_video" ? strings.all : strings.defaultTrack}</option>
          {tracks.map(({ index, language, codec }, track) => (
            <option key={index} value={track}>
              {track + 1} – {language ? languageName(language) : codecName(codec ?? "unknown")}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
