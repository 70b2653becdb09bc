import type { Input, InputAudioTrack, InputVideoTrack } from "mediabunny";
import { containerOf } from "../media/containers.ts";
import { mainStream } from "../media/main-tracks.ts";
import type { Source } from "../media/source.ts";

/** Indexes of the tracks of a source among those of their kind that mediabunny lists. */
export interface TrackPlaces {
  video: number;
  audio: number;
}

/** Returns where mediabunny lists the tracks that a source describes, or another audio track of it. */
export function trackPlaces(source: Source, sound_track = source.sound_track ?? 0): TrackPlaces {
  const place = (kind: "video" | "audio", track: number) => track - hiddenBefore(source, kind, track);
  return { video: place("video", source.video_track ?? 0), audio: place("audio", sound_track) };
}

/** Returns whether mediabunny lists the tracks that a source describes, which may be disabled when there are no others. */
export function listsTracks(source: Source): boolean {
  const isDisabled = (kind: "video" | "audio") => mainStream(source, kind)?.disabled === true;
  return !hidesDisabled(source) || !(isDisabled("video") || isDisabled("audio"));
}

function hidesDisabled(source: Source): boolean {
  return containerOf(source).disabled_tracks === "hidden";
}

function hiddenBefore(source: Source, kind: "video" | "audio", track: number): number {
  const { streams = [] } = source;
  if (!hidesDisabled(source)) return 0;
  const before = streams.filter((stream) => stream.kind === kind).slice(0, track);
  return before.filter(({ disabled }) => disabled).length;
}

/** Returns the video track that a source describes; null when mediabunny does not list it. */
export async function pictureTrack(input: Input, source: Source): Promise<InputVideoTrack | null> {
  return (await input.getVideoTracks())[trackPlaces(source).video] ?? null;
}

/** Returns an audio track of a source, by its index from 0; null when mediabunny does not list it. */
export async function soundTrack(
  input: Input,
  source: Source,
  track?: number,
): Promise<InputAudioTrack | null> {
  return (await input.getAudioTracks())[trackPlaces(source, track).audio] ?? null;
}
