import { TARGET_LUFS } from "../../src/index.ts";
import { Field } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
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
const OTHER = "other";

const CHANNEL_WORDS = ["As in the source", "Mono", "Stereo"] as const;

/** How loud the sound is, in how many channels, and how it begins and ends. */
export function SoundFields({ form }: { form: Form }) {
  const { source, wishes, options, change, faultAt } = form;
  if (source.codecs && source.codecs.audio === null) return null;
  const { mute, channels, fade_in, fade_out } = options;
  return (
    <>
      <div class="columns">
        <LoudnessField form={form} mayMute={wishes.kind !== "audio"} />
        {!mute && (
          <Field label="Channels" fault={faultAt("channels")}>
            {(control) => (
              <select
                {...control}
                value={String(channels ?? 0)}
                onChange={({ currentTarget }) =>
                  change({ channels: Number(currentTarget.value) || undefined })
                }
              >
                {CHANNEL_WORDS.map((words, count) => (
                  <option key={words} value={count}>
                    {words}
                  </option>
                ))}
                {channels !== undefined && channels > 2 && (
                  <option value={channels}>{channels} channels</option>
                )}
              </select>
            )}
          </Field>
        )}
      </div>
      {!mute && <TrackField form={form} />}
      {!mute && (
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
      )}
    </>
  );
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
  const value = mute ? MUTE : (leveled ?? (volume === undefined ? KEEP : OTHER));
  const choose = (chosen: string) => {
    if (chosen === OTHER) return;
    const target = TARGETS.find((each) => String(each) === chosen);
    if (chosen !== MUTE) {
      change({ ...UNSHAPED, ...(target !== undefined && { normalize: true, target_lufs: target }) });
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
      fault={faultAt("target_lufs") ?? faultAt("volume")}
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
          {mayMute && <option value={MUTE}>No sound</option>}
          {value === OTHER && <option value={OTHER}>Custom</option>}
        </select>
      )}
    </Field>
  );
}
