import { z } from "zod";
import { heldCodecs, issue, oneOf, type Report, wholeWithin, within } from "./fields.ts";
import {
  type AudioCodec,
  BOUNDS,
  DEFAULT_FORMAT,
  type EncodeKind,
  FORMATS,
  SOUND_CODECS,
  type VideoFormat,
} from "./formats.ts";
import { asksFor } from "./option-rules.ts";

/** Sample rates in hertz that MP3 supports and everything plays; AAC and Vorbis are limited to them too. */
export const SAMPLE_RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;

/** The sample rate of all Opus, in hertz. */
export const OPUS_RATE = 48_000;

/** Most channels of a lossy and of a lossless codec: few players take more of the former, WAV and FLAC define no more. */
export const MOST_CHANNELS = { lossy: 2, lossless: 8 } as const;

/** Loudness that `normalize` aims at unless `target_lufs` says otherwise, in LUFS: that of most streaming services and podcasts. */
export const TARGET_LUFS = -16;

const TRACK = `must be the index of a sound track, from 0, or a language such as "en".`;

const LOSSLESS: ReadonlySet<string> = new Set(["flac", "pcm_s16le"] satisfies AudioCodec[]);

/** Returns whether a codec keeps every sample. */
export function isLossless(codec: AudioCodec): boolean {
  return LOSSLESS.has(codec);
}

/** The options that shape the sound, shared by the kinds that have it. */
export const sound = {
  track: z
    .union(
      [
        z.int(TRACK).min(0).max(BOUNDS.track.max),
        z.string(TRACK).regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/),
      ],
      TRACK,
    )
    .optional()
    .meta({
      description: "Which of the source's sound tracks: its index from 0, or a language such as en or eng.",
      default: 0,
      example: "en",
    }),
  channels: wholeWithin(BOUNDS.channels, "a whole number of channels").optional().meta({
    description:
      "Channels of the sound; lossy formats hold 1 or 2. Those of the source, at most 2 in lossy formats, when absent.",
    example: 1,
  }),
  sample_rate: wholeWithin(BOUNDS.sample_rate, "a whole number of hertz").optional().meta({
    description:
      "Samples per second, in hertz; one that the format has. That of the source, or the nearest, when absent.",
    example: 44_100,
  }),
  volume: within(BOUNDS.volume, "a factor").optional().meta({
    description: "Factor of the amplitude: 0.5 takes 6 dB off, 2 adds 6 dB and may clip.",
    default: 1,
  }),
  normalize: z.boolean("must be true or false.").optional().meta({
    description:
      "Measures the loudness of the whole output by EBU R128 and sets it to target_lufs; peaks stay below -1 dBTP, by limiting where need be.",
    default: false,
  }),
  target_lufs: within(BOUNDS.target_lufs, "a loudness in LUFS")
    .optional()
    .meta({ description: "Loudness for normalize, in LUFS.", default: TARGET_LUFS }),
  fade_in: within(BOUNDS.fade, "a number of seconds")
    .optional()
    .meta({ description: "Seconds in which the sound rises at the start.", default: 0 }),
  fade_out: within(BOUNDS.fade, "a number of seconds")
    .optional()
    .meta({ description: "Seconds in which the sound falls to silence at the end.", default: 0 }),
};

const SOUND_NAMES = ["aac", "mp3", "opus", "vorbis"] as const satisfies readonly AudioCodec[];

/** The option of that name, of a video. */
export const audio_codec = oneOf(SOUND_NAMES)
  .optional()
  .meta({
    description: `The codec of the sound: ${heldCodecs(SOUND_CODECS)}; the first one of the format when absent.`,
  });

/** The options of {@link sound} for a kind with pictures, which may also do without. */
export const soundtrack = {
  ...sound,
  mute: z
    .boolean("must be true or false.")
    .optional()
    .meta({ description: "Leaves the sound out.", default: false }),
};

/** The options that shape the sound, as parsed. */
export type SoundOptions = { [K in keyof typeof sound]?: z.infer<(typeof sound)[K]> };

interface OfVideo {
  audio_codec?: AudioCodec | undefined;
  audio_bitrate?: number | undefined;
}

type Checked = SoundOptions & { mute?: boolean | undefined; format?: string | undefined };

/** The kinds whose outputs have sound. */
type SoundKind = Extract<EncodeKind, "video" | "audio" | "adaptive_video">;

/** Creates the check that the format can hold the sound of a kind, and that no two options contradict each other. */
export function checkSound(kind: SoundKind) {
  return (options: Checked & OfVideo, report: Report): void => {
    const { mute, format = DEFAULT_FORMAT[kind], ...given } = options;
    const codec = given.audio_codec ?? codecOf(kind, format);
    const held: readonly AudioCodec[] = kind === "video" ? SOUND_CODECS[format as VideoFormat] : [codec];
    if (!held.includes(codec)) {
      report.addIssue(
        issue("audio_codec", `${format} cannot hold ${codec} here; use ${held.join(", ")}.`, true),
      );
    }
    const most = MOST_CHANNELS[isLossless(codec) ? "lossless" : "lossy"];
    if ((given.channels ?? 0) > most) {
      report.addIssue(issue("channels", `must be at most ${most} in ${format}.`));
    }
    const rates = ratesOf(codec);
    if (given.sample_rate !== undefined && rates && !rates.includes(given.sample_rate)) {
      report.addIssue(issue("sample_rate", `must be one of ${rates.join(", ")} in ${format}.`));
    }
    if (given.target_lufs !== undefined && !given.normalize) {
      report.addIssue(issue("target_lufs", "needs normalize: true."));
    }
    if (given.normalize && asksFor("volume", given.volume)) {
      const whole = "options.volume and options.normalize cannot both be given.";
      report.addIssue(issue("volume", "cannot be given together with normalize.", whole));
    }
    const shaped = SHAPES.find((name) => asksFor(name, given[name]));
    if (mute && shaped) {
      const whole = `options.mute and options.${shaped} cannot both be given.`;
      report.addIssue(issue(shaped, "cannot be given for a video without sound.", whole));
    }
  };
}

const SHAPES = [...(Object.keys(sound) as (keyof typeof sound)[]), "audio_codec", "audio_bitrate"] as const;

function codecOf(kind: SoundKind, format: string): AudioCodec {
  if (kind === "adaptive_video") return "aac";
  if (kind === "audio") return FORMATS.audio[format as keyof (typeof FORMATS)["audio"]].codec;
  return FORMATS.video[format as keyof (typeof FORMATS)["video"]].audio;
}

function ratesOf(codec: AudioCodec): readonly number[] | null {
  if (isLossless(codec)) return null;
  return codec === "opus" ? [OPUS_RATE] : SAMPLE_RATES;
}
