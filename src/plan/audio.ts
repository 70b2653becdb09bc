import { invalid } from "../core/errors.ts";
import { type AudioCodec, BOUNDS } from "../core/formats.ts";
import {
  isLossless,
  MOST_CHANNELS,
  OPUS_RATE,
  SAMPLE_RATES,
  type SoundOptions,
  TARGET_LUFS,
} from "../core/sound-options.ts";
import type { Source, SourceStream } from "../core/source.ts";
import { containerOf } from "../media/containers.ts";
import { type AudioPlan, type Plan, type SoundShape, soundsOf } from "./plan.ts";
import { audioBitrate, FLAC_COMPRESSION, type RateOptions } from "./rate.ts";
import type { Span } from "./span.ts";

export { SAMPLE_RATES } from "../core/sound-options.ts";

// Lowest and highest bits per second of libvorbis for one and for two channels, measured with 1.3.7.
const VORBIS: Readonly<
  Record<number, readonly [mono: readonly [number, number], stereo: readonly [number, number]]>
> = {
  8000: [
    [12_000, 42_000],
    [12_000, 84_000],
  ],
  11025: [
    [12_000, 50_000],
    [16_000, 100_000],
  ],
  12000: [
    [12_000, 50_000],
    [16_000, 100_000],
  ],
  16000: [
    [16_000, 100_000],
    [24_000, 200_000],
  ],
  22050: [
    [16_000, 90_000],
    [32_000, 180_000],
  ],
  24000: [
    [16_000, 90_000],
    [32_000, 180_000],
  ],
  32000: [
    [32_000, 190_000],
    [36_000, 380_000],
  ],
  44100: [
    [32_000, 240_000],
    [45_000, 500_000],
  ],
  48000: [
    [32_000, 240_000],
    [45_000, 500_000],
  ],
};

/** What decides between copying and encoding sound. */
export interface AudioNeeds extends RateOptions {
  trimmed: boolean;
  /** Channels and sample rate in hertz that are asked for. */
  channels?: number | undefined;
  sample_rate?: number | undefined;
  /** Null leaves the sound as it is. */
  shape?: SoundShape | null;
}

/**
 * Plans the sound: copied when no option prevents it, otherwise encoded. Lossy sound gets at most two channels, which its
 * bitrates are meant for and every player supports; lossless sound keeps up to eight.
 */
export function createAudioPlan(source: Source, codec: AudioCodec, needs: AudioNeeds): AudioPlan {
  const { channels = 2, sample_rate = 48_000 } = source.audio ?? {};
  const most = MOST_CHANNELS[isLossless(codec) ? "lossless" : "lossy"];
  const { quality, bitrate: given, shape = null } = needs;
  const asked = needs.trimmed || quality !== undefined || given !== undefined || shape !== null;
  const alike =
    (needs.channels ?? channels) === channels && (needs.sample_rate ?? sample_rate) === sample_rate;
  const fits = source.codecs?.audio === codec && channels <= most && alike;
  if (fits && !asked && containerOf(source).copies_sound) return { mode: "copy", codec };

  const bitrate = audioBitrate(codec, needs);
  const out = {
    channels: needs.channels ?? Math.max(1, Math.min(channels, most)),
    sample_rate: needs.sample_rate ?? sampleRate(codec, sample_rate),
    ...(shape && { shape }),
  };
  if (bitrate === null) {
    const compression = codec === "flac" ? FLAC_COMPRESSION[quality ?? "medium"] : null;
    return { mode: "encode", codec, bitrate, compression, ...out };
  }
  const free = codec === "vorbis" && needs.sample_rate === undefined;
  const fitted = free ? slowEnough(bitrate, out) : out;
  const [lowest, highest] = bitrateBounds(codec, fitted.channels, fitted.sample_rate);
  const within = Math.max(lowest, Math.min(bitrate, highest));
  return { mode: "encode", codec, bitrate: within, compression: null, ...fitted };
}

/**
 * Returns the output sample rate in hertz: the source's where the codec supports it, at most 48 kHz for lossy codecs, always
 * 48 kHz for Opus.
 */
export function sampleRate(codec: AudioCodec, source: number): number {
  if (codec === "opus") return OPUS_RATE;
  const { min, max } = BOUNDS.sample_rate;
  if (isLossless(codec)) return Math.min(Math.max(source, min), max);
  if (source > 48_000) return source % 11_025 === 0 ? 44_100 : 48_000;
  return SAMPLE_RATES.find((rate) => rate >= source) ?? 48_000;
}

/** Returns the lowest and the highest bitrate, in bits per second, that a lossy codec accepts. */
function bitrateBounds(codec: AudioCodec, channels: number, sample_rate: number): readonly [number, number] {
  return codec === "vorbis"
    ? vorbisBounds(channels, sample_rate)
    : [0, maxBitrate(codec, channels, sample_rate)];
}

/** Returns the highest bitrate, in bits per second, that a lossy codec accepts. */
export function maxBitrate(codec: AudioCodec, channels: number, sample_rate: number): number {
  switch (codec) {
    case "aac":
      // ISO/IEC 14496-3: 6144 bits a channel in a frame of 1024 samples.
      return 6 * sample_rate * channels;
    case "mp3":
      // The bitrate tables of MPEG-1, MPEG-2 and MPEG-2.5 layer III.
      if (sample_rate >= 32_000) return 320_000;
      return sample_rate >= 16_000 ? 160_000 : 64_000;
    case "opus":
      // libopus rejects more than 256 kbit/s per channel.
      return 256_000 * channels;
    case "vorbis":
      return vorbisBounds(channels, sample_rate)[1];
    default:
      return Number.POSITIVE_INFINITY;
  }
}

// Vorbis has no low bitrates at high sample rates, so the sample rate drops to suit the bitrate.
function slowEnough<T extends { channels: number; sample_rate: number }>(bitrate: number, out: T): T {
  const rates = SAMPLE_RATES.filter((rate) => rate <= out.sample_rate).reverse();
  const sample_rate = rates.find((rate) => vorbisBounds(out.channels, rate)[0] <= bitrate);
  return sample_rate === undefined ? out : { ...out, sample_rate };
}

function vorbisBounds(channels: number, sample_rate: number): readonly [number, number] {
  return VORBIS[sample_rate]?.[channels === 1 ? 0 : 1] ?? [0, Number.POSITIVE_INFINITY];
}

/**
 * Returns what the options change about the sound; null when they change nothing. The span's duration is that of the output.
 *
 * @throws `invalid_options` when the fades are longer than the output, or its end is not known.
 */
export function soundShape(options: SoundOptions, source: Source, span: Span, speed = 1): SoundShape | null {
  const { volume = 1, fade_in = 0, fade_out = 0 } = options;
  const shape: SoundShape = {
    ...(options.normalize && { loudness: options.target_lufs ?? TARGET_LUFS }),
    ...(volume !== 1 && { volume }),
    ...(fade_in > 0 && { fade_in }),
    ...(fade_out > 0 && { fade_out: fadeOut(fade_out, source, span, speed) }),
  };
  const { duration } = span;
  if (duration !== null && fade_in + fade_out > duration) {
    const name = fade_in > duration ? "fade_in" : fade_out > 0 ? "fade_out" : "fade_in";
    throw invalid(
      `options.${name}`,
      `is longer than the output, which has ${duration} seconds for its fades.`,
      "invalid_options",
    );
  }
  return Object.keys(shape).length > 0 ? shape : null;
}

function fadeOut(seconds: number, source: Source, { start, duration }: Span, speed: number) {
  if (duration === null) {
    throw invalid("options.fade_out", "needs a source whose duration is known.", "invalid_options");
  }
  // The sound may end before the pictures do.
  const stream = source.streams?.find(({ kind }) => kind === "audio");
  const end = Math.min(duration, ((stream?.end ?? Number.POSITIVE_INFINITY) - start) / speed);
  return { at: Number(Math.max(0, end - seconds).toFixed(6)), seconds };
}

/**
 * Returns the index, among the source's sound tracks, of the one that the options name; by default the first whose codec is known.
 *
 * @throws `invalid_options` when it has none of that index or language.
 */
export function findTrack(
  source: Source,
  track: SoundOptions["track"] = knownTracks(source)[0] ?? 0,
): number {
  const tracks = soundTracks(source);
  // A source written by hand may list no streams.
  if (track === 0) return 0;
  const found =
    typeof track === "number" ? track : tracks.findIndex(({ language }) => speaks(language, track));
  if (tracks[found]) return found;
  const languages = tracks.map(({ language }, index) => `${index}${language ? ` (${language})` : ""}`);
  throw invalid(
    "options.track",
    `is none of the source's sound tracks, which are ${languages.join(", ") || "0"}.`,
    "invalid_options",
  );
}

/** Returns the source as it sounds with one of its sound tracks alone: all that it says about sound is about that track. */
export function heardSource(source: Source, { sound_track = 0 }: Pick<Plan, "sound_track">): Source {
  const track = sound_track === 0 ? undefined : soundTracks(source)[sound_track];
  if (!track) return source;
  const { channels, sample_rate, codec } = track;
  const { audio: _, streams = [], ...rest } = source;
  return {
    ...rest,
    codecs: { video: source.codecs?.video ?? null, audio: codec },
    ...(channels && sample_rate && { audio: { channels, sample_rate } }),
    streams: streams.filter((stream) => stream === track || stream.kind !== "audio"),
  };
}

/** Returns the codecs of the sound tracks that a plan decodes; null where one is not known. */
export function decodedSounds(plan: Plan, source: Source): (string | null)[] {
  return soundsOf(plan).flatMap(({ track, audio }) =>
    audio.mode === "encode" ? (heardSource(source, { sound_track: track }).codecs?.audio ?? null) : [],
  );
}

/** Most sound tracks of adaptive video. */
export const MOST_SOUNDS = 16;

/** Returns the indexes, among the source's sound tracks, of those whose codec is known. */
export function knownTracks(source: Source): number[] {
  return soundTracks(source).flatMap(({ codec }, index) => (codec === null ? [] : [index]));
}

/** Returns the language of a sound track, as BCP 47 writes it; undefined when it has none. */
export function languageOf(source: Source, track: number): string | undefined {
  const { language } = soundTracks(source)[track] ?? {};
  return canonical(language);
}

function soundTracks({ streams = [] }: Source): SourceStream[] {
  return streams.filter(({ kind }) => kind === "audio");
}

// Codes of two and three letters mean the same; a region narrows what is asked for.
function speaks(language: string | undefined, asked: string): boolean {
  const [own = language ?? "und", wanted = asked] = [canonical(language), canonical(asked)];
  return own === wanted || own.startsWith(`${wanted}-`);
}

/** Returns the usual form of a language code (BCP 47), such as `de` for `deu`; undefined for anything else. */
export function canonical(language: string | undefined): string | undefined {
  if (language === undefined || language === "und") return undefined;
  try {
    return Intl.getCanonicalLocales(language)[0];
  } catch {
    // A source may state anything, and playlists quote it.
    return undefined;
  }
}
