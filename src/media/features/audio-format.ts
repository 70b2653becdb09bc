import { type OptionValues, option, optionGroup } from "../feature.ts";
import { issue, listCodecs, oneOf, type Report, wholeWithin } from "../fields.ts";
import {
  type AudioCodec,
  type AudioFormat,
  BOUNDS,
  DEFAULT_FORMAT,
  FORMATS,
  SOUND_CODECS,
  type VideoFormat,
  WAV_CODECS,
} from "../formats.ts";
import type { SourceFacts } from "../source-facts.ts";

/** The kinds whose outputs have sound. */
export const SOUND_KINDS = ["video", "audio", "adaptive_video"] as const;
/** A kind whose outputs have sound. */
export type SoundKind = (typeof SOUND_KINDS)[number];

/** Sample rates in hertz that MP3 supports and everything plays; AAC and Vorbis are limited to them too. */
export const SAMPLE_RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;

/** The only sample rate of Opus, in hertz. */
export const OPUS_RATE = 48_000;

/** Maximum channels: few players support more in a lossy codec, and WAV and FLAC define no more. */
export const MAX_CHANNELS = { lossy: 2, lossless: 8 } as const;

const LOSSLESS: ReadonlySet<string> = new Set(["flac", ...WAV_CODECS] satisfies AudioCodec[]);

/** Bits of a sample that every lossless format and player supports. */
export const USUAL_DEPTH = 16;
const MAX_FLAC_DEPTH = 24;

/** Returns whether a codec is lossless. */
export function isLossless(codec: AudioCodec): boolean {
  return LOSSLESS.has(codec);
}

/** Returns the codec of an audio format's sound: in a WAV, the one that keeps the samples of a source as they are. */
export function codecIn(format: AudioFormat, source: SourceFacts): AudioCodec {
  const { codec } = FORMATS.audio[format];
  return isPcm(codec) ? pcmCodec(source) : codec;
}

/** Returns whether an audio format can hold the sound of a source as it is. */
export function holdsSound(format: AudioFormat, { codecs }: SourceFacts): boolean {
  const { codec } = FORMATS.audio[format];
  const own = codecs?.audio;
  return isPcm(codec) ? isPcm(own) : own === codec;
}

function pcmCodec(source: SourceFacts): PcmCodec {
  const { bits, floating } = sampleFormat(source);
  if (floating) return bits > 32 ? "pcm_f64le" : "pcm_f32le";
  if (bits <= USUAL_DEPTH) return "pcm_s16le";
  return bits <= 24 ? "pcm_s24le" : "pcm_s32le";
}

type PcmCodec = (typeof WAV_CODECS)[number];

/** Returns the codec under which tables of costs list a codec: one for all PCM. */
export function costCodec(codec: AudioCodec): Exclude<AudioCodec, PcmCodec> | "pcm_s16le" {
  return isPcm(codec) ? "pcm_s16le" : codec;
}

/** Returns whether a codec is one of the PCM codecs that a WAV can hold. */
export function isPcm(codec: string | null | undefined): codec is PcmCodec {
  return WAV_CODECS.some((each) => each === codec);
}

/** Returns whether a lossless codec has fewer bits for a sample than a source. */
export function losesDepth(codec: AudioCodec, source: SourceFacts): boolean {
  const { bits, floating } = sampleFormat(source);
  return codec === "flac" && (floating || bits > MAX_FLAC_DEPTH);
}

/** Returns the bits of a sample that the name of a PCM codec states; null for another codec. */
export function pcmBits(codec: string): number | null {
  const bits = NAMED_DEPTH.exec(codec)?.[2];
  return bits === undefined ? null : Number(bits);
}

function sampleFormat({ codecs, audio }: SourceFacts): { bits: number; floating: boolean } {
  const [, kind, bits] = NAMED_DEPTH.exec(codecs?.audio ?? "") ?? [];
  return {
    bits: Number(bits ?? audio?.bit_depth ?? USUAL_DEPTH),
    floating: kind === "f" || audio?.floating === true,
  };
}

const NAMED_DEPTH = /^pcm_([suf])(\d+)/;
const LOSSLESS_SOURCE =
  /^(pcm_(?!alaw|mulaw|vidc)|(flac|alac|wavpack|ape|tta|tak|truehd|mlp|mp4als|wmalossless|ralf|atrac3al|shorten|s302m)$)/;

/** Returns whether a codec of sources, by ffmpeg's name, is lossless. */
export function isLosslessSource(codec: string): boolean {
  return LOSSLESS_SOURCE.test(codec);
}

/** Returns whether the name of a lossless codec leaves open how many bits a sample has. */
export function hidesDepth(codec: string): boolean {
  return isLosslessSource(codec) && !NAMED_DEPTH.test(codec);
}

/**
 * Returns whether ffmpeg (5.1) decodes the sound of a source wrongly after a seek: a frame of MPEG-4 ALS may refer to the one before, and
 * the decoder counts frames from where it begins.
 */
export function hasSeeklessSound({ codecs, streams = [] }: SourceFacts): boolean {
  return [codecs?.audio, ...streams.map(({ codec }) => codec)].includes("mp4als");
}

const CHANNEL_NAMES = ["As in the source", "Mono", "Stereo"] as const;
const CODECS = ["aac", "mp3", "opus", "vorbis"] as const satisfies readonly AudioCodec[];
const { min, max } = BOUNDS.audio_bitrate;

/** The codec of a video's sound. */
export const audioCodec = optionGroup({
  options: {
    audio_codec: option({
      kinds: ["video"],
      schema: oneOf(CODECS)
        .optional()
        .meta({
          description: `The codec of the sound: ${listCodecs(SOUND_CODECS)}. By default the first one of the format.`,
        }),
      placed: true,
      words: { label: "Codec of the sound" },
    }),
    audio_bitrate: option({
      kinds: ["video"],
      schema: wholeWithin(BOUNDS.audio_bitrate, "a whole number of bits per second")
        .optional()
        .meta({ description: "Bits per second of the sound; by default those of quality." }),
      placed: true,
      words: {
        label: "Bitrate of the sound",
        unit: "kbit/s",
        empty: "by quality",
        hint: () => `From ${min / 1000} to ${max / 1000}.`,
      },
    }),
  },
});

/** The layout of the sound. */
export const audioFormat = optionGroup({
  options: {
    channels: option({
      kinds: SOUND_KINDS,
      schema: wholeWithin(BOUNDS.channels, "a whole number of channels").optional().meta({
        description:
          "Number of audio channels; lossy formats hold 1 or 2. By default that of the source, in lossy formats at most 2.",
        example: 1,
      }),
      placed: true,
      choices: [1, 2],
      words: { label: "Channels", choice: (count = 0) => CHANNEL_NAMES[count] ?? `${count} channels` },
    }),
    sample_rate: option({
      kinds: SOUND_KINDS,
      schema: wholeWithin(BOUNDS.sample_rate, "a whole number of hertz").optional().meta({
        description:
          "Sample rate in hertz, which the format must support. By default that of the source, or the nearest supported one.",
        example: 44_100,
      }),
      placed: true,
      words: {
        label: "Sample rate",
        choice: (hertz) => (hertz === undefined ? "As in the source" : `${hertz / 1000} kHz`),
      },
    }),
  },
});

type AudioFormatOptions = OptionValues<typeof audioCodec.options & typeof audioFormat.options> & {
  format?: string | undefined;
};

/** Creates the check that a kind's format can hold the requested audio. */
export function checkAudioFormat(kind: SoundKind) {
  return (options: AudioFormatOptions, report: Report): void => {
    const { format = DEFAULT_FORMAT[kind], channels = 0, sample_rate } = options;
    const codec = options.audio_codec ?? codecOf(kind, format);
    const codecs: readonly AudioCodec[] = kind === "video" ? SOUND_CODECS[format as VideoFormat] : [codec];
    if (!codecs.includes(codec)) {
      const rule = `${format} cannot hold ${codec} here; use ${codecs.join(", ")}.`;
      report.addIssue(issue("audio_codec", rule, true));
    }
    const maxChannels = MAX_CHANNELS[isLossless(codec) ? "lossless" : "lossy"];
    if (channels > maxChannels)
      report.addIssue(issue("channels", `must be at most ${maxChannels} in ${format}.`));
    const rates = ratesOf(codec);
    if (sample_rate !== undefined && rates && !rates.includes(sample_rate)) {
      report.addIssue(issue("sample_rate", `must be one of ${rates.join(", ")} in ${format}.`));
    }
  };
}

function codecOf(kind: SoundKind, format: string): AudioCodec {
  if (kind === "adaptive_video") return "aac";
  return kind === "audio"
    ? FORMATS.audio[format as AudioFormat].codec
    : FORMATS.video[format as VideoFormat].audio;
}

function ratesOf(codec: AudioCodec): readonly number[] | null {
  if (isLossless(codec)) return null;
  return codec === "opus" ? [OPUS_RATE] : SAMPLE_RATES;
}
