import { containerOf, endsInFrame } from "./containers.ts";
import { hasVideo } from "./decoded-pictures.ts";
import { changesDefault } from "./feature.ts";
import { type AudioFilters, planAudioFilters } from "./features/audio-filters.ts";
import { isLossless, MAX_CHANNELS, OPUS_RATE, SAMPLE_RATES } from "./features/audio-format.ts";
import {
  findTrack,
  MAX_TRACKS,
  sourceForTrack,
  track,
  tracksInOrder,
  tracksOfProgram,
  tracksWithCodec,
} from "./features/track.ts";
import { type AudioCodec, BOUNDS } from "./formats.ts";
import type { AdaptiveVideoOptions, AudioOptions } from "./options.ts";
import { type AudioPlan, type Plan, soundsOf } from "./plan.ts";
import * as errors from "./plan-errors.ts";
import {
  AUDIO_BITRATE,
  audioBitrate,
  FLAC_COMPRESSION,
  isOwnBitrate,
  maxAudioBits,
  mp3Bitrate,
  type RateOptions,
  SAME_BITRATE,
} from "./rates.ts";
import type { Source } from "./source.ts";
import { type Span, spanAtSpeed } from "./timeline.ts";

export { SAMPLE_RATES } from "./features/audio-format.ts";

// Lowest and highest bits per second of libvorbis by sample rate, for one and for two channels, measured with 1.3.7.
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

/** The facts that decide between copying and encoding audio. */
export interface AudioNeeds extends RateOptions {
  trimmed: boolean;
  /** Requested channels. */
  channels?: number | undefined;
  /** Requested sample rate in hertz. */
  sample_rate?: number | undefined;
  /** Whether `quality` may not exceed the source's bitrate; default false. */
  isLimited?: boolean | undefined;
  /** Filters of the audio; null for none. */
  shape?: AudioFilters | null;
}

/**
 * Plans the audio: copied when no option prevents it, otherwise encoded. Lossy audio gets at most two channels, for which the
 * bitrates are meant and which every player supports; lossless audio keeps up to eight.
 */
export function createAudioPlan(source: Source, codec: AudioCodec, needs: AudioNeeds): AudioPlan {
  const { channels = 2, sample_rate = 48_000 } = source.audio ?? {};
  const max_channels = MAX_CHANNELS[isLossless(codec) ? "lossless" : "lossy"];
  const { quality, shape = null } = needs;
  const sameBitrate = needs.bitrate === undefined || isOwnBitrate(needs.bitrate, source, "audio");
  const changes = needs.trimmed || quality !== undefined || !sameBitrate || shape !== null;
  const sameLayout =
    (needs.channels ?? channels) === channels && (needs.sample_rate ?? sample_rate) === sample_rate;
  const canCopy =
    source.codecs?.audio === codec && channels <= max_channels && sameLayout && !endsInFrame(source);
  if (canCopy && !changes && containerOf(source).copies_sound) return { mode: "copy", codec };

  const rate = audioBitrate(codec, needs);
  const isLimited = needs.isLimited || (quality === undefined && isNoWorse(codec, source));
  const bitrate =
    isLimited && needs.bitrate === undefined && rate !== null ? Math.min(rate, maxAudioBits(source)) : rate;
  const out = {
    channels: needs.channels ?? Math.max(1, Math.min(channels, max_channels)),
    sample_rate: needs.sample_rate ?? sampleRate(codec, sample_rate),
    ...(shape && { shape }),
  };
  if (bitrate === null) {
    const compression = codec === "flac" ? FLAC_COMPRESSION[quality ?? "medium"] : null;
    return { mode: "encode", codec, bitrate, compression, ...out };
  }
  const free = codec === "vorbis" && needs.sample_rate === undefined;
  const fitted = free ? fitSampleRate(bitrate, out) : out;
  const [lowest, highest] = bitrateBounds(codec, fitted.channels, fitted.sample_rate);
  const clamped = Math.max(lowest, Math.min(bitrate, highest));
  const coarse = codec === "mp3" && clamped < BOUNDS.audio_bitrate.min;
  const stepped = coarse ? mp3Bitrate(clamped * (1 + SAME_BITRATE), fitted.sample_rate) : clamped;
  return { mode: "encode", codec, bitrate: stepped, compression: null, ...fitted };
}

// At equal bitrates, a codec of a higher rank sounds no worse.
const RANKS: Readonly<Record<string, number>> = { mp2: 0, ac3: 0, mp3: 1, aac: 2, vorbis: 2, opus: 3 };

/** Returns whether a codec sounds at least as good as the source's at the same bitrate. */
function isNoWorse(codec: AudioCodec, source: Source): boolean {
  const own = source.codecs?.audio ?? "";
  const [rank, ownRank] = [RANKS[codec], RANKS[own]];
  if (rank === undefined || ownRank === undefined || rank < ownRank) return false;
  // AAC at lower bitrates is HE-AAC, which sounds better than AAC-LC there.
  return own !== "aac" || codec === "opus" || maxAudioBits(source) >= AUDIO_BITRATE.aac.very_low;
}

/**
 * Returns the output sample rate in hertz: the source's if the codec supports it, at most 48 kHz for lossy codecs, always 48 kHz
 * for Opus.
 */
export function sampleRate(codec: AudioCodec, source: number): number {
  if (codec === "opus") return OPUS_RATE;
  const { min, max } = BOUNDS.sample_rate;
  if (isLossless(codec)) return Math.min(Math.max(source, min), max);
  if (source > 48_000) return source % 11_025 === 0 ? 44_100 : 48_000;
  return SAMPLE_RATES.find((rate) => rate >= source) ?? 48_000;
}

// MP3's lowest bitrate is higher at high sample rates; its table rounds up to it.
const LOWEST_BITRATE = 8000;

function bitrateBounds(codec: AudioCodec, channels: number, sample_rate: number): readonly [number, number] {
  return codec === "vorbis"
    ? vorbisBounds(channels, sample_rate)
    : [LOWEST_BITRATE, maxBitrate(codec, channels, sample_rate)];
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

function fitSampleRate<T extends { channels: number; sample_rate: number }>(bitrate: number, out: T): T {
  const rates = SAMPLE_RATES.filter((rate) => rate <= out.sample_rate).reverse();
  const sample_rate = rates.find((rate) => vorbisBounds(out.channels, rate)[0] <= bitrate);
  return sample_rate === undefined ? out : { ...out, sample_rate };
}

function vorbisBounds(channels: number, sample_rate: number): readonly [number, number] {
  return VORBIS[sample_rate]?.[channels === 1 ? 0 : 1] ?? [0, Number.POSITIVE_INFINITY];
}

/** Returns the codecs of the audio tracks that a plan decodes, null for an unknown codec. */
export function decodedSounds(plan: Plan, source: Source): (string | null)[] {
  return soundsOf(plan).flatMap(({ track, audio }) =>
    audio.mode === "encode" ? (sourceForTrack(source, { sound_track: track }).codecs?.audio ?? null) : [],
  );
}

type SoundOptions = Omit<AudioOptions, "format" | "mode" | "metadata" | "start" | "end"> & {
  mute?: boolean | undefined;
  isLimited?: boolean | undefined;
};

/** Plans the audio track that the options select, in a codec or in the one that `codec` returns for the track. */
export function soundPlan(
  source: Source,
  codec: AudioCodec | ((own: Source) => AudioCodec),
  options: SoundOptions,
  span: Span,
  trimmed: boolean,
): Pick<Plan, "audio" | "sound_track"> {
  if (options.mute) return { audio: null };
  if (!hasAudio(source) && tracksWithCodec(source).length === 0) {
    if (!changesDefault(track.options.track, options.track)) return { audio: null };
    throw errors.trackOfSilence();
  }
  if (options.track === undefined && audibleTrack(source) === null) return { audio: null };
  const { quality, bitrate, channels, sample_rate, isLimited, speed = 1 } = options;
  const sound_track = findTrack(source, options.track);
  const own = sourceForTrack(source, { sound_track });
  if (!hasAudio(own)) return { audio: null };
  const shape = planAudioFilters(options, own, spanAtSpeed(span, speed), speed);
  const needs = { quality, bitrate, channels, sample_rate, isLimited, shape, trimmed };
  return {
    audio: createAudioPlan(own, typeof codec === "string" ? codec : codec(own), needs),
    ...(sound_track > 0 && { sound_track }),
  };
}

/** Returns why the output's loudness differs from the source's: an option or a downmix; null when it does not. */
export function loudnessChange(
  plan: Pick<Plan, "audio" | "sound_track">,
  source: Source,
): "asked" | "downmixed" | null {
  const { audio } = plan;
  if (audio?.mode !== "encode") return null;
  const { loudness, volume } = audio.shape ?? {};
  if (loudness !== undefined || volume !== undefined) return "asked";
  return audio.channels < (sourceForTrack(source, plan).audio?.channels ?? 0) ? "downmixed" : null;
}

/** Plans all audio tracks of a stream, unless the options select one. An audio-only stream has one. */
export function streamSounds(
  source: Source,
  options: AdaptiveVideoOptions,
  span: Span,
): Pick<Plan, "audio" | "sound_track" | "sounds"> {
  const planTrack = (name: AdaptiveVideoOptions["track"]) =>
    soundPlan(source, "aac", { ...options, track: name }, span, true);
  const tracks = options.track === undefined && hasVideo(source) ? tracksInOrder(source) : [];
  if (options.mute || tracks.length < 2) return planTrack(options.track);
  const all = tracks.slice(0, MAX_TRACKS).map(planTrack);
  const sounds = all.flatMap(({ audio, sound_track = 0 }) => (audio ? [{ track: sound_track, audio }] : []));
  return { ...(all[0] ?? planTrack(0)), sounds };
}

/** Returns the index of the first audio track that can be decoded; null when there is none. */
export function audibleTrack(source: Source): number | null {
  if (!hasAudio(source) && tracksOfProgram(source).length === 0) return null;
  const sound_track = findTrack(source);
  return hasAudio(sourceForTrack(source, { sound_track })) ? sound_track : null;
}

function hasAudio(source: Source): boolean {
  return source.codecs ? source.codecs.audio !== null : source.kind === "audio";
}
