import { type InputTrack, MP4, QTFF } from "mediabunny";
import type { ByteReader } from "../../core/ports.ts";
import { listBoxes } from "../../probe/isobmff/boxes.ts";
import { readMovieIndex } from "../../probe/isobmff/isobmff.ts";
import { viewOf } from "../../util/bytes.ts";
import { createOpener, packetsOf } from "../stitch/packets.ts";

export interface Contents {
  /** Video packets; null where they need not be as many as pictures were encoded. */
  pictures: number | null;
  /** Total duration of the audio packets in seconds. */
  sound: number;
}

/** Counts the packets of an encoded file, from its index where it has one, otherwise by reading the whole file. */
export async function countContents(reader: ByteReader, signal?: AbortSignal): Promise<Contents> {
  const opener = createOpener(signal);
  try {
    const input = opener.open(reader);
    const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
    const format = await input.getFormat();
    const index = format === MP4 || format === QTFF ? await readMovieIndex(reader) : null;
    const indexed = (track: InputTrack) => (index?.fragmented ? undefined : index?.tracks.get(track.id));
    return {
      pictures: video ? (indexed(video)?.packets ?? (await countPackets(video)).packets) : 0,
      sound: audio ? (indexed(audio)?.seconds ?? (await countPackets(audio)).seconds) : 0,
    };
  } finally {
    opener.close();
  }
}

/** Counts the pictures of an animated AVIF, which mediabunny does not open. */
export async function countSequence(reader: ByteReader): Promise<Contents> {
  const index = await readMovieIndex(reader, true);
  return {
    pictures: Math.max(0, ...[...(index?.tracks.values() ?? [])].map(({ packets }) => packets)),
    sound: 0,
  };
}

/** Counts the samples of a segment of fragmented MP4 (ISO/IEC 14496-12, 8.8.8); 0 for an init segment. */
export function countSamples(bytes: Uint8Array): number {
  const view = viewOf(bytes);
  const inside = (kind: string, boxes: { start: number; end: number }[]) =>
    boxes.flatMap(({ start, end }) => listBoxes(view, start, end).filter((box) => box.kind === kind));
  const runs = ["moof", "traf", "trun"].reduce(
    (boxes, kind) => inside(kind, boxes),
    [{ start: 0, end: bytes.length }],
  );
  return runs.reduce((sum, { start }) => sum + view.getUint32(start + 4), 0);
}

async function countPackets(track: InputTrack): Promise<{ packets: number; seconds: number }> {
  let [packets, seconds, usual] = [0, 0, 0];
  for await (const { duration } of packetsOf(track, { metadataOnly: true })) {
    packets++;
    // mediabunny reports no duration for the last packet of a WebM cluster.
    usual = duration || usual;
    seconds += usual;
  }
  return { packets, seconds };
}
