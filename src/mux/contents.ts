import { FLAC, type InputAudioTrack, type InputTrack, MP4, QTFF } from "mediabunny";
import type { TrackPlaces } from "../probe/mediabunny.ts";
import { readMovieIndex } from "../probe/mp4.ts";
import { type Box, listBoxes, readFields, type TrackIndex } from "../probe/mp4-boxes.ts";
import { measureFlac } from "../probe/sound-frames.ts";
import type { ByteReader } from "../runs/ports.ts";
import { viewOf } from "../util/bytes.ts";
import { createOpener, packetsOf } from "./packets.ts";

export interface Contents {
  /** Video packets; null when their number may differ from that of the encoded pictures. */
  pictures: number | null;
  /** Pictures in the file if `pictures` is null; absent if they equal the decoded ones. */
  filePictures?: number;
  /** Total duration of the audio packets in seconds. */
  sound: number;
  /** Seconds of sound that a decoder outputs, from the number of packets; absent when unknown. */
  decodedSound?: number;
}

/**
 * Counts the packets of an encoded file, from its index if it has one, otherwise by reading the whole file; of a source, those of the
 * tracks at `places`. Pictures and sound that the edit list hides before the start do not count.
 */
export async function countContents(
  reader: ByteReader,
  signal?: AbortSignal,
  places: TrackPlaces = { video: 0, audio: 0 },
): Promise<Contents> {
  const opener = createOpener(signal);
  try {
    const input = opener.open(reader);
    const format = await input.getFormat();
    if (format === FLAC) return { pictures: 0, sound: (await measureFlac(reader, signal)) ?? 0 };
    const video = (await input.getVideoTracks())[places.video] ?? null;
    const audio = (await input.getAudioTracks())[places.audio] ?? null;
    const index = format === MP4 || format === QTFF ? await readMovieIndex(reader) : null;
    const indexed = (track: InputTrack) => (index?.fragmented ? undefined : index?.tracks.get(track.id));
    const sound = audio && (indexed(audio) ?? (await countPackets(audio)));
    const frame = audio && (await frameSeconds(audio));
    const hidden = sound?.preroll ? sound.hidden : 0;
    return {
      pictures: video ? (indexed(video) ?? (await countPackets(video))).visible.packets : 0,
      sound: sound?.visible.seconds ?? 0,
      ...(sound && frame && { decodedSound: sound.packets * frame - hidden }),
    };
  } finally {
    opener.close();
  }
}

// Our encoders write Opus packets of 20 ms.
async function frameSeconds(track: InputAudioTrack): Promise<number | null> {
  const codec = await track.getCodec();
  if (codec === "aac") return AAC_FRAME / (await track.getSampleRate());
  return codec === "opus" ? 0.02 : null;
}

/** Samples per AAC packet. */
export const AAC_FRAME = 1024;

/** Counts the pictures of an animated AVIF, which mediabunny does not open. */
export async function countSequence(reader: ByteReader): Promise<Contents> {
  const index = await readMovieIndex(reader, true);
  return {
    pictures: Math.max(0, ...[...(index?.tracks.values() ?? [])].map(({ packets }) => packets)),
    sound: 0,
  };
}

/**
 * Reads a segment of fragmented MP4 (ISO/IEC 14496-12, 8.8): the number of samples, and the bytes up to the end of the first.
 */
export function readSegment(bytes: Uint8Array): { samples: number; lead?: number } {
  const view = viewOf(bytes);
  const whole = { kind: "", start: 0, end: bytes.length };
  const inside = (kind: string, boxes: readonly Box[]) =>
    boxes.flatMap(({ start, end }) => listBoxes(view, start, end).filter((box) => box.kind === kind));
  const fragments = inside("moof", [whole]);
  const tracks = inside("traf", fragments);
  const runs = inside("trun", tracks);
  const samples = runs.reduce((sum, { start }) => sum + view.getUint32(start + 4), 0);
  const [moof] = fragments;
  const [header] = inside("tfhd", tracks);
  const [run] = runs;
  const lead = moof && header && run && endOfFirst(view, moof, header, run);
  return lead === undefined ? { samples } : { samples, lead };
}

// 8.8.7 and 8.8.8: flags state which fields are present.
function endOfFirst(view: DataView, moof: Box, header: Box, run: Box): number | undefined {
  const track = readFields(view, header, 8);
  const base = track(0x1, 8);
  track(0x2);
  track(0x8);
  const fallback = track(0x10);
  const first = readFields(view, run, 8);
  const offset = first(0x1);
  first(0x4);
  first(0x100);
  const size = first(0x200) ?? fallback;
  return offset === undefined || size === undefined ? undefined : (base ?? moof.start - 8) + offset + size;
}

async function countPackets(
  track: InputTrack,
): Promise<Pick<TrackIndex, "packets" | "hidden" | "preroll" | "visible">> {
  let [packets, seconds, fallback] = [0, 0, 0];
  for await (const { duration } of packetsOf(track, { metadataOnly: true })) {
    packets++;
    // mediabunny reports no duration for the last packet of a WebM cluster.
    fallback = duration || fallback;
    seconds += fallback;
  }
  return { packets, hidden: 0, preroll: false, visible: { packets, seconds } };
}
