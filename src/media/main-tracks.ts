import type { SourceFacts, SourceStream } from "./source-facts.ts";

/** The facts by which a track is chosen among those of its kind. */
export interface TrackFacts {
  /** Name of the codec; null when unknown. */
  codec: string | null;
  /** Whether it has no packets. */
  empty?: boolean;
  /** Whether it is a single picture of an image codec, such as a cover. */
  still?: boolean;
  disabled?: boolean;
  default?: boolean;
  /** Area of a picture. */
  pixels?: number;
  seconds?: number | undefined;
  /** Bits per pixel of a picture of an icon. */
  depth?: number | undefined;
}

type Fact = (track: TrackFacts) => number;

const PLAYABLE: readonly Fact[] = [
  ({ empty }) => (empty ? 0 : 1),
  ({ codec }) => (codec === null ? 0 : 1),
  ({ still }) => (still ? 0 : 1),
  ({ disabled }) => (disabled ? 0 : 1),
  (track) => (track.default ? 1 : 0),
];

const RANKS: Readonly<Record<"video" | "audio" | "image", readonly Fact[]>> = {
  video: [...PLAYABLE, ({ pixels = 0 }) => pixels, ({ seconds = 0 }) => seconds],
  audio: PLAYABLE,
  image: [({ pixels = 0 }) => pixels, ({ depth = 0 }) => depth],
};

/**
 * Returns the index of the track that a player would play, among the video or audio tracks of a file, or of the best picture of an
 * image file with several; 0 when there is none.
 */
export function mainTrack(kind: keyof typeof RANKS, tracks: readonly TrackFacts[]): number {
  let best = 0;
  for (const [index, track] of tracks.entries()) {
    const current = tracks[best];
    const rank = current && RANKS[kind].find((fact) => fact(track) !== fact(current));
    if (current && rank && rank(track) > rank(current)) best = index;
  }
  return best;
}

/** Returns the stream of a kind that a source's own fields describe. */
export function mainStream(source: SourceFacts, kind: "video" | "audio"): SourceStream | undefined {
  const { streams = [], video_track = 0, sound_track = 0 } = source;
  return streams.filter((stream) => stream.kind === kind)[kind === "video" ? video_track : sound_track];
}

/** Returns ffmpeg's specifier of the video stream that a source describes, in the command's input `input`. */
export function videoStream({ video_track = 0 }: Pick<SourceFacts, "video_track">, input = 0): string {
  return `${input}:V:${video_track}`;
}
