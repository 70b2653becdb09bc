import type { Input } from "mediabunny";
import { containerOf } from "../media/containers.ts";
import { DEFAULT_FPS } from "../media/features/fps.ts";
import type { Source } from "../media/source.ts";
import { openSource, openUncached, pictureTrack, startTime } from "../probe/mediabunny.ts";
import { watchReader } from "../probe/reader.ts";
import type { ByteReader } from "../runs/ports.ts";
import { createOpener, packetsOf } from "./packets.ts";

/** The bytes of a file by purpose. */
export interface FileWeight {
  /** Bytes of each picture, in decoding order. */
  pictures: number[];
  /** Bytes of the sound's packets. */
  sound: number;
  sound_packets: number;
  /** Seconds of the sound's packets. */
  sound_seconds: number;
  /** All other bytes of the file. */
  rest: number;
}

/** Weighs the pictures and the sound of an encoded file; rejects for a format without packets. */
export async function weighFile(reader: ByteReader, signal: AbortSignal): Promise<FileWeight> {
  const { open, close } = createOpener(signal);
  try {
    const input = open(reader);
    const video = await input.getPrimaryVideoTrack();
    const audio = await input.getPrimaryAudioTrack();
    const pictures: number[] = [];
    let [sound, sound_packets, sound_seconds] = [0, 0, 0];
    const facts = { metadataOnly: true } as const;
    if (video) for await (const { byteLength } of packetsOf(video, facts)) pictures.push(byteLength);
    if (audio)
      for await (const { byteLength, duration } of packetsOf(audio, facts)) {
        sound += byteLength;
        sound_packets++;
        sound_seconds += duration;
      }
    const rest = reader.size - sound - pictures.reduce((sum, bytes) => sum + bytes, 0);
    return { pictures, sound, sound_packets, sound_seconds, rest };
  } finally {
    close();
  }
}

/** A picture of a source. */
export interface ListedPicture {
  /** Presentation time in seconds. */
  at: number;
  bytes: number;
  /** Whether the container flags it as a keyframe. */
  key: boolean;
}

const MAX_LISTED = 60_000;

/**
 * Lists the pictures of a source in decoding order from its index, without reading media. Empty when there is no index, or it is
 * damaged or too long. Rejects when aborted, and as the reader does.
 */
export async function listPictures(
  reader: ByteReader,
  source: Source,
  signal: AbortSignal,
): Promise<ListedPicture[]> {
  if (!containerOf({ format: source.format }).indexed) return [];
  if ((source.duration ?? 0) * (source.fps ?? DEFAULT_FPS) > MAX_LISTED) return [];
  const watched = watchReader(reader, signal);
  let input: Input | null = null;
  try {
    const readable = await openSource(watched, source.format, signal);
    input = readable && openUncached(readable);
    const track = input && (await pictureTrack(input, source));
    const pictures: ListedPicture[] = [];
    if (!track) return pictures;
    const origin = await startTime(track.input);
    for await (const { timestamp, byteLength, type } of packetsOf(track, { metadataOnly: true })) {
      signal.throwIfAborted();
      // A damaged index may list more pictures than its duration allows.
      if (pictures.length === MAX_LISTED) return [];
      pictures.push({ at: timestamp - origin, bytes: byteLength, key: type === "key" });
    }
    return pictures;
  } catch {
    signal.throwIfAborted();
    watched.throwFailure();
    return [];
  } finally {
    input?.dispose();
  }
}
