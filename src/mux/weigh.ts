import { EncodedPacketSink, type Input, type InputVideoTrack } from "mediabunny";
import { containerOf, isIsobmff, isMatroska } from "../media/containers.ts";
import { DEFAULT_FPS } from "../media/features/fps.ts";
import { CONTAINER_BYTES } from "../media/rates.ts";
import type { Source } from "../media/source.ts";
import { sizedUnits } from "../probe/codec-headers.ts";
import { openSource, openUncached, pictureTrack, startTime } from "../probe/mediabunny.ts";
import { readMovieIndex } from "../probe/mp4.ts";
import { findBox, listBoxes, readHandler } from "../probe/mp4-boxes.ts";
import { watchReader } from "../probe/reader.ts";
import type { ByteReader } from "../runs/ports.ts";
import { createOpener, packetsOf } from "./packets.ts";

/** The bytes of a file by purpose. */
export interface FileWeight {
  /** Bytes of each picture, in decoding order. */
  pictures: number[];
  /** The bytes of the first picture that state the encoder's settings; no other picture repeats them. */
  settings: number;
  /** Bytes of the sound's packets. */
  sound: number;
  sound_packets: number;
  /** Seconds of the sound's packets. */
  sound_seconds: number;
  /** All other bytes of the file, its index included. */
  rest: number;
  /** The bytes of `rest` that list pictures, and those that list packets of sound. */
  index: { pictures: number; sound: number };
}

/** Weighs the pictures and the sound of an encoded file; `format` is its container. Rejects for a format without packets. */
export async function weighFile(
  reader: ByteReader,
  format: string,
  signal: AbortSignal,
): Promise<FileWeight> {
  const { open, close } = createOpener(signal);
  try {
    const input = open(reader);
    const video = await input.getPrimaryVideoTrack();
    const audio = await input.getPrimaryAudioTrack();
    const pictures: number[] = [];
    let [sound, sound_packets, sound_seconds] = [0, 0, 0];
    const facts = { metadataOnly: true } as const;
    const settings = video ? await weighSettings(video) : 0;
    if (video) for await (const { byteLength } of packetsOf(video, facts)) pictures.push(byteLength);
    if (audio)
      for await (const { byteLength, duration } of packetsOf(audio, facts)) {
        sound += byteLength;
        sound_packets++;
        sound_seconds += duration;
      }
    const rest = reader.size - sound - pictures.reduce((sum, bytes) => sum + bytes, 0);
    const index = isIsobmff(format)
      ? await weighTables(reader)
      : {
          pictures: pictures.length * containerBytes(format),
          sound: sound_packets * CONTAINER_BYTES.packet,
        };
    return { pictures, settings, sound, sound_packets, sound_seconds, rest, index };
  } finally {
    close();
  }
}

// x264 and x265 write their settings as unregistered user data in an SEI message (ITU-T H.264, 7.3.2.3 and D.1; H.265, 7.3.5).
const USER_DATA = 5;
const SETTINGS = {
  avc: ([header = 0, kind]: Uint8Array) => (header & 0x1f) === 6 && kind === USER_DATA,
  hevc: ([header = 0, , kind]: Uint8Array) => ((header >> 1) & 0x3f) === 39 && kind === USER_DATA,
} as const;
const LENGTH_BYTES = 4;

async function weighSettings(video: InputVideoTrack): Promise<number> {
  const codec = await video.getCodec();
  if (codec !== "avc" && codec !== "hevc") return 0;
  const first = await new EncodedPacketSink(video).getFirstPacket();
  const units = first ? [...sizedUnits(first.data, LENGTH_BYTES)] : [];
  return units.filter(SETTINGS[codec]).reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0);
}

// The header of a block in Matroska.
const BLOCK_BYTES = 8;

function containerBytes(format: string): number {
  return isMatroska(format) ? BLOCK_BYTES : CONTAINER_BYTES.picture;
}

const TABLES: ReadonlySet<string> = new Set(["stts", "ctts", "stsz", "stsc", "stco", "co64"]);
// The header, version, flags and number of entries.
const EMPTY_TABLE = 16;

/** Sums the sample tables of an MP4 or MOV (ISO/IEC 14496-12, 8.6 and 8.7). */
async function weighTables(reader: ByteReader): Promise<FileWeight["index"]> {
  const { moov } = (await readMovieIndex(reader)) ?? {};
  const index = { pictures: 0, sound: 0 };
  if (!moov) return index;
  for (const trak of listBoxes(moov, 8, moov.byteLength).filter(({ kind }) => kind === "trak")) {
    const stbl = findBox(moov, trak, "mdia", "minf", "stbl");
    const tables = stbl ? listBoxes(moov, stbl.start, stbl.end).filter(({ kind }) => TABLES.has(kind)) : [];
    const bytes = tables.reduce((sum, { start, end }) => sum + Math.max(0, end - start + 8 - EMPTY_TABLE), 0);
    index[readHandler(moov, trak) === "soun" ? "sound" : "pictures"] += bytes;
  }
  return index;
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
