import { EncodedPacketSink, type InputTrack } from "mediabunny";
import { withinBounds } from "./bounded-reader.ts";
import type { FileStart } from "./file-start.ts";
import type { TrackIndex } from "./isobmff/sample-index.ts";

export interface Packets {
  any: boolean;
  /** Packets per second: for video, the average frame rate. */
  rate: number;
  /** Bits per second; 0 when unknown. */
  bitrate: number;
}

// Enough packets for averages when there is no index.
const COUNTED = 50;
// Largest reordering distance: where reading stops, some pictures shown before the last ones are missing.
const DISORDER = 8;

/**
 * Returns the averages of a track, from its index or else from its first packets; null when that takes too many reads, or is
 * inconclusive.
 */
export async function countPackets(
  track: InputTrack,
  format: string,
  index: TrackIndex | undefined,
  start: FileStart | null,
): Promise<Packets | null> {
  if (index) {
    const { packets, bytes, seconds } = index;
    return { any: packets > 0, rate: ratio(packets, seconds), bitrate: ratio(bytes * 8, seconds) };
  }
  // FLAC's frames must be searched for, and without any the search never ends (mediabunny 1.61).
  if (format === "flac") return null;
  if (start) return countStart(track, start);
  const stats = await withinBounds(() => track.computePacketStats(COUNTED));
  if (!stats) return null;
  const { packetCount, averagePacketRate, averageBitrate } = stats;
  return { any: packetCount > 0, rate: ratio(averagePacketRate, 1), bitrate: ratio(averageBitrate, 1) };
}

// Pictures are not read completely, and the first is far larger than later ones.
async function countStart(track: InputTrack, start: FileStart): Promise<Packets | null> {
  const packets: { time: number; bytes: number }[] = [];
  await withinBounds(async () => {
    for await (const { timestamp, byteLength } of new EncodedPacketSink(track).packets(undefined, undefined, {
      metadataOnly: true,
    })) {
      packets.push({ time: timestamp, bytes: byteLength });
    }
  });
  packets.sort((one, other) => one.time - other.time);
  const counted = start.whole || packets.length <= COUNTED ? packets : packets.slice(0, -DISORDER);
  const intervals = counted.slice(0, -1);
  const seconds = (counted.at(-1)?.time ?? 0) - (counted[0]?.time ?? 0);
  const bytes = intervals.reduce((sum, packet) => sum + packet.bytes, 0);
  return {
    any: packets.length > 0,
    rate: start.fps.get(track.id) ?? ratio(intervals.length, seconds),
    bitrate: track.type === "audio" ? ratio(bytes * 8, seconds) : 0,
  };
}

function ratio(over: number, under: number): number {
  const value = over / under;
  return Number.isFinite(value) ? value : 0;
}
