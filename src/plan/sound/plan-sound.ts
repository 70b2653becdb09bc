import { invalid } from "../../core/errors.ts";
import type { AudioCodec } from "../../core/formats.ts";
import { asksFor } from "../../core/option-rules.ts";
import type { AdaptiveVideoOptions, AudioOptions } from "../../core/options.ts";
import type { SoundOptions } from "../../core/sound-options.ts";
import type { Source } from "../../core/source.ts";
import { createAudioPlan, findTrack, heardSource, knownTracks, MOST_SOUNDS, soundShape } from "../audio.ts";
import { hasVideo } from "../image/pictures.ts";
import type { Plan } from "../plan.ts";
import { played, type Span } from "../span.ts";

type SoundWish = SoundOptions &
  Pick<AudioOptions, "quality" | "bitrate" | "speed"> & { mute?: boolean | undefined };

/** Plans the sound track that the options name. */
export function soundPlan(
  source: Source,
  codec: AudioCodec,
  options: SoundWish,
  span: Span,
  trimmed: boolean,
): Pick<Plan, "audio" | "sound_track"> {
  if (options.mute) return { audio: null };
  if (!hasAudio(source) && knownTracks(source).length === 0) {
    if (!asksFor("track", options.track)) return { audio: null };
    throw invalid("options.track", "names a sound track of a source that has no sound.", "invalid_options");
  }
  const { quality, bitrate, channels, sample_rate, speed = 1 } = options;
  const sound_track = findTrack(source, options.track);
  const heard = heardSource(source, { sound_track });
  if (!hasAudio(heard)) return { audio: null };
  const shape = soundShape(options, heard, played(span, speed), speed);
  // What copies sound takes the first track.
  const needs = { quality, bitrate, channels, sample_rate, shape, trimmed: trimmed || sound_track > 0 };
  return { audio: createAudioPlan(heard, codec, needs), ...(sound_track > 0 && { sound_track }) };
}

/** Plans all sound tracks of a stream, unless one is asked for. A stream of sound alone has one. */
export function streamSounds(
  source: Source,
  options: AdaptiveVideoOptions,
  span: Span,
): Pick<Plan, "audio" | "sound_track" | "sounds"> {
  const planned = (track: AdaptiveVideoOptions["track"]) =>
    soundPlan(source, "aac", { ...options, track }, span, true);
  const tracks = options.track === undefined && hasVideo(source) ? knownTracks(source) : [];
  if (options.mute || tracks.length < 2) return planned(options.track);
  const all = tracks.slice(0, MOST_SOUNDS).map(planned);
  const sounds = all.flatMap(({ audio, sound_track: track = 0 }) => (audio ? [{ track, audio }] : []));
  return { ...(all[0] ?? planned(0)), sounds };
}

/** Returns the index, among the source's sound tracks, of the first that can be decoded; null when there is none. */
export function audibleTrack(source: Source): number | null {
  const sound_track = findTrack(source);
  return hasAudio(heardSource(source, { sound_track })) ? sound_track : null;
}

function hasAudio(source: Source): boolean {
  return source.codecs ? source.codecs.audio !== null : source.kind === "audio";
}
