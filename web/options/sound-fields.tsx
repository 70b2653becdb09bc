import {
  BOUNDS,
  FORMATS,
  SAMPLE_RATES,
  SOUND_CODECS,
  type Source,
  TARGET_LUFS,
  type VideoFormat,
} from "../../src/index.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { codecName, formatName } from "../words/names.ts";
import { type AnyOptions, formatOf } from "./choices.ts";
import { TrackField } from "./track-field.tsx";
import type { Form } from "./use-form.ts";

// LUFS of what is published; the first is that of most services, the last of European television.
const LOUDNESS_WORDS = {
  [-14]: "Music: -14 LUFS",
  [TARGET_LUFS]: "Speech and podcasts: -16 LUFS",
  [-23]: "Television: -23 LUFS",
} as const;
const TARGETS = [-14, TARGET_LUFS, -23] as const;
const KEEP = "keep";
const MUTE = "mute";
const VOLUME = "volume";
const OTHER = "other";

const CHANNEL_WORDS = ["As in the source", "Mono", "Stereo"] as const;
// Those of recordings, which lossless formats hold too.
const STUDIO_RATES = [88_200, 96_000, 192_000] as const;
const { min, max } = BOUNDS.audio_bitrate;

/** How loud the sound is, how it is stored, and how it begins and ends. */
export function SoundFields({ form }: { form: Form }) {
  const { source, wishes, options, change, faultAt } = form;
  if (source.codecs && source.codecs.audio === null) return null;
  const { kind } = wishes;
  const { mute, volume, fade_in, fade_out } = options;
  return (
    <fieldset class="group">
      <legend>Sound</legend>
      <div class="columns">
        <LoudnessField form={form} mayMute={kind !== "audio" && source.kind !== "audio"} />
        {volume !== undefined && (
          <NumberField
            label="Volume"
            value={volume}
            onChange={(value = Number.NaN) => change({ volume: value })}
            hint="0.5 is 6 dB softer, 2 is 6 dB louder and may clip."
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
                label="Bitrate of the sound (kbit/s)"
                value={options.audio_bitrate === undefined ? undefined : options.audio_bitrate / 1000}
                onChange={(value) =>
                  change({ audio_bitrate: value === undefined ? undefined : Math.round(value * 1000) })
                }
                placeholder="by quality"
                hint={`From ${min / 1000} to ${max / 1000}.`}
                fault={faultAt("audio_bitrate")}
              />
            </div>
          )}
          <div class="columns">
            <ChannelsField form={form} />
            <RateField form={form} />
          </div>
          <TrackField form={form} />
          <div class="columns">
            <NumberField
              label="Fade in (seconds)"
              value={fade_in}
              onChange={(value) => change({ fade_in: value })}
              placeholder="none"
              fault={faultAt("fade_in")}
            />
            <NumberField
              label="Fade out (seconds)"
              value={fade_out}
              onChange={(value) => change({ fade_out: value })}
              placeholder="none"
              fault={faultAt("fade_out")}
            />
          </div>
        </>
      )}
    </fieldset>
  );
}

function ChannelsField({
  form: {
    options: { channels },
    change,
    faultAt,
  },
}: {
  form: Form;
}) {
  return (
    <Field label="Channels" fault={faultAt("channels")}>
      {(control) => (
        <select
          {...control}
          value={String(channels ?? 0)}
          onChange={({ currentTarget }) => change({ channels: Number(currentTarget.value) || undefined })}
        >
          {CHANNEL_WORDS.map((words, count) => (
            <option key={words} value={count}>
              {words}
            </option>
          ))}
          {channels !== undefined && channels > 2 && <option value={channels}>{channels} channels</option>}
        </select>
      )}
    </Field>
  );
}

function CodecField({ form: { source, options, change, faultAt } }: { form: Form }) {
  const format = formatOf("video", options, source);
  const held: readonly string[] = SOUND_CODECS[format as VideoFormat] ?? [];
  return (
    <Field label="Codec of the sound" fault={faultAt("audio_codec")}>
      {(control) => (
        <select
          {...control}
          value={options.audio_codec ?? ""}
          onChange={({ currentTarget: { value } }) =>
            // Opus has one rate alone.
            change({ audio_codec: codecNamed(value), ...(value === "opus" && { sample_rate: undefined }) })
          }
        >
          <option value="">
            Usual for {formatName(format)} ({codecName(held[0] ?? "")})
          </option>
          {held.map((codec) => (
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
  const { source, wishes, options, change, faultAt } = form;
  const { sample_rate } = options;
  const codec = soundCodec(wishes.kind, options, source);
  if (codec === "opus" && sample_rate === undefined) return null;
  const isLossless = codec === "flac" || codec === "pcm_s16le";
  const rates: number[] = [...SAMPLE_RATES, ...(isLossless ? STUDIO_RATES : [])];
  const all = sample_rate === undefined || rates.includes(sample_rate) ? rates : [...rates, sample_rate];
  return (
    <Field label="Sample rate" fault={faultAt("sample_rate")}>
      {(control) => (
        <select
          {...control}
          value={String(sample_rate ?? "")}
          onChange={({ currentTarget }) => change({ sample_rate: Number(currentTarget.value) || undefined })}
        >
          <option value="">As in the source</option>
          {all.map((rate) => (
            <option key={rate} value={rate}>
              {rate / 1000} kHz
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Returns the codec of an output's sound. */
function soundCodec(kind: Form["wishes"]["kind"], options: AnyOptions, source: Source): string {
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
  const known = TARGETS.find((target) => target === target_lufs);
  const leveled = normalize ? String(known ?? OTHER) : null;
  const value = mute ? MUTE : (leveled ?? (volume === undefined ? KEEP : VOLUME));
  const choose = (chosen: string) => {
    if (chosen === OTHER) return;
    const target = TARGETS.find((each) => String(each) === chosen);
    if (chosen !== MUTE) {
      change({
        ...UNSHAPED,
        ...(target !== undefined && { normalize: true, target_lufs: target }),
        ...(chosen === VOLUME && { volume: 1 }),
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
      label="Loudness"
      fault={faultAt("target_lufs")}
      hint={normalize ? "Measured by EBU R128; peaks are kept from clipping." : undefined}
    >
      {(control) => (
        <select {...control} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          <option value={KEEP}>As in the source</option>
          {TARGETS.map((target) => (
            <option key={target} value={target}>
              {LOUDNESS_WORDS[target]}
            </option>
          ))}
          <option value={VOLUME}>Louder or softer</option>
          {(mayMute || mute) && <option value={MUTE}>No sound</option>}
          {value === OTHER && <option value={OTHER}>Custom</option>}
        </select>
      )}
    </Field>
  );
}
