import { z } from "zod";
import { type OptionValues, option, optionGroup } from "../feature.ts";
import { BOUNDS } from "../formats.ts";
import * as errors from "../plan-errors.ts";
import type { SourceFacts, SourceStream } from "../source-facts.ts";

const RULE = `must be the index of a sound track, from 0, or a language such as "en".`;

const schema = z
  .union(
    [
      z.int(RULE).min(0).max(BOUNDS.track.max),
      z.string(RULE).regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/),
    ],
    RULE,
  )
  .optional();

/** The choice of the source's audio track. */
export const track = optionGroup({
  options: {
    track: option({
      kinds: ["video", "audio", "waveform", "adaptive_video"],
      schema: schema.meta({
        description:
          "Sound track of the source: its index from 0, or a language such as en or eng. By default the one that players choose.",
        example: "en",
      }),
      schemas: {
        adaptive_video: schema.meta({
          description:
            "The only sound track to keep: its index from 0, or a language such as en or eng. By default all are kept, each with its language.",
          example: "en",
        }),
      },
      default: 0,
      alone: true,
      copyable: true,
      placed: true,
      words: { label: "Sound track" },
    }),
  },
});

type Track = OptionValues<typeof track.options>["track"];

/** Maximum audio tracks of adaptive video. */
export const MAX_TRACKS = 16;

/**
 * Returns the index of the audio track that the options select; by default the one that the source describes, if its codec is known.
 *
 * @throws `invalid_options` when there is no track with that index or language.
 */
export function findTrack(source: SourceFacts, name: Track = defaultTrack(source)): number {
  const tracks = soundTracks(source);
  // A handwritten source may list no streams.
  if (name === 0) return 0;
  const index =
    typeof name === "number" ? name : tracks.findIndex(({ language }) => matchesLanguage(language, name));
  if (tracks[index]) return index;
  const names = tracks.map(({ language }, at) => `${at}${language ? ` (${language})` : ""}`);
  throw errors.trackAbsent({ tracks: names });
}

/** Reduces a source to one of its audio tracks, which then determines all facts about its audio. */
export function sourceForTrack<S extends SourceFacts>(
  source: S,
  { sound_track = 0 }: { sound_track?: number | undefined },
): S {
  const main = source.sound_track ?? 0;
  const stream = soundTracks(source)[sound_track];
  const isMain = sound_track === main && !(stream?.other_program && source.codecs?.audio === null);
  if (!stream || (sound_track === 0 && isMain)) return source;
  const { channels, sample_rate, bit_depth, floating, codec } = stream;
  const depth = { ...(bit_depth && { bit_depth }), ...(floating && { floating }) };
  const facts = !isMain && {
    codecs: { video: source.codecs?.video ?? null, audio: codec },
    audio: channels && sample_rate ? { channels, sample_rate, ...depth } : undefined,
  };
  return {
    ...source,
    ...facts,
    sound_track: undefined,
    streams: source.streams?.filter((each) => each === stream || each.kind !== "audio"),
  };
}

/** Returns the indexes of the audio tracks that belong to the pictures and have a known codec, starting with the one that the source describes. */
export function tracksInOrder(source: SourceFacts): number[] {
  const main = defaultTrack(source);
  const tracks = tracksOfProgram(source);
  return tracks.includes(main) ? [main, ...tracks.filter((index) => index !== main)] : tracks;
}

function defaultTrack(source: SourceFacts): number {
  const { sound_track = 0 } = source;
  const tracks = tracksOfProgram(source);
  return tracks.includes(sound_track) ? sound_track : (tracks[0] ?? 0);
}

/** Returns the indexes of the audio tracks with a known codec. */
export function tracksWithCodec(source: SourceFacts): number[] {
  return soundTracks(source).flatMap(({ codec }, index) => (codec === null ? [] : [index]));
}

/** Returns the indexes of the audio tracks with a known codec, without those of other programs. */
export function tracksOfProgram(source: SourceFacts): number[] {
  const tracks = soundTracks(source);
  return tracksWithCodec(source).filter((index) => !tracks[index]?.other_program);
}

/** Returns the language of an audio track as a BCP 47 tag; undefined when unknown. */
export function languageOf(source: SourceFacts, index: number): string | undefined {
  return canonicalLanguage(soundTracks(source)[index]?.language);
}

/** Returns the canonical form of a language code (BCP 47), such as `de` for `deu`; undefined for anything else. */
export function canonicalLanguage(language: string | undefined): string | undefined {
  if (language === undefined || language === "und") return undefined;
  try {
    return Intl.getCanonicalLocales(language)[0];
  } catch {
    // A source may state any text, and playlists contain the result.
    return undefined;
  }
}

function soundTracks({ streams = [] }: SourceFacts): SourceStream[] {
  return streams.filter(({ kind }) => kind === "audio");
}

function matchesLanguage(language: string | undefined, name: string): boolean {
  const own = canonicalLanguage(language) ?? language ?? "und";
  const request = canonicalLanguage(name) ?? name;
  return own === request || own.startsWith(`${request}-`);
}
