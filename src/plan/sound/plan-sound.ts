import type { AudioCodec } from "../../core/formats.ts";
import type { AdaptiveVideoOptions, AudioOptions } from "../../core/options.ts";
import type { Source } from "../../core/source.ts";
import { changesDefault } from "../../media/feature.ts";
import { planAudioFilters } from "../../media/features/audio-filters.ts";
import {
  findTrack,
  knownTracks,
  MAX_TRACKS,
  refuseSilent,
  sourceForTrack,
  track,
} from "../../media/features/track.ts";
import { createAudioPlan } from "../audio.ts";
import { hasVideo } from "../image/pictures.ts";
import type { Plan } from "../plan.ts";
import { played, type Span } from "../span.ts";

type SoundOptions = Omit<AudioOptions, "format" | "mode" | "metadata" | "start" | "end"> & {
  mute?: boolean | undefined;
};

/** Plans the sound track that the options name. */
export function soundPlan(
  source: Source,
  codec: AudioCodec,
  options: SoundOptions,
  span: Span,
  trimmed: boolean,
): Pick<Plan, "audio" | "sound_track"> {
  if (options.mute) return { audio: null };
  if (!hasAudio(source) && knownTracks(source).length === 0) {
    if (!changesDefault(track.options.track, options.track)) return { audio: null };
    throw refuseSilent();
  }
  const { quality, bitrate, channels, sample_rate, speed = 1 } = options;
  const sound_track = findTrack(source, options.track);
  const own = sourceForTrack(source, { sound_track });
  if (!hasAudio(own)) return { audio: null };
  const shape = planAudioFilters(options, own, played(span, speed), speed);
  // What copies sound takes the first track.
  const needs = { quality, bitrate, channels, sample_rate, shape, trimmed: trimmed || sound_track > 0 };
  return { audio: createAudioPlan(own, codec, needs), ...(sound_track > 0 && { sound_track }) };
}

/** Plans all sound tracks of a stream, unless the options name one. A stream of sound alone has one. */
export function streamSounds(
  source: Source,
  options: AdaptiveVideoOptions,
  span: Span,
): Pick<Plan, "audio" | "sound_track" | "sounds"> {
  const planTrack = (name: AdaptiveVideoOptions["track"]) =>
    soundPlan(source, "aac", { ...options, track: name }, span, true);
  const tracks = options.track === undefined && hasVideo(source) ? knownTracks(source) : [];
  if (options.mute || tracks.length < 2) return planTrack(options.track);
  const all = tracks.slice(0, MAX_TRACKS).map(planTrack);
  const sounds = all.flatMap(({ audio, sound_track = 0 }) => (audio ? [{ track: sound_track, audio }] : []));
  return { ...(all[0] ?? planTrack(0)), sounds };
}

/** Returns the index, among the source's sound tracks, of the first that can be decoded; null when there is none. */
export function audibleTrack(source: Source): number | null {
  const sound_track = findTrack(source);
  return hasAudio(sourceForTrack(source, { sound_track })) ? sound_track : null;
}

function hasAudio(source: Source): boolean {
  return source.codecs ? source.codecs.audio !== null : source.kind === "audio";
}
