import type { InputTrack } from "mediabunny";
import { withinBounds } from "./bounded-reader.ts";
import type { TrackIndex } from "./sample-index.ts";

/** What the packets of a track tell. */
export interface Packets {
  /** False when there are none. */
  any: boolean;
  /** Packets a second: of video, the average frame rate. */
  rate: number;
  /** Bits a second. */
  bitrate: number;
}

// So many tell the averages where there is no index.
const COUNTED = 50;

/** Tells the averages of a track: from its index, else by reading its first packets; null when that is too much, or says nothing. */
export async function countPackets(
  track: InputTrack,
  format: string,
  index: TrackIndex | undefined,
): Promise<Packets | null> {
  if (index) {
    const { packets, bytes, seconds } = index;
    return { any: packets > 0, rate: ratio(packets, seconds), bitrate: ratio(bytes * 8, seconds) };
  }
  // FLAC's frames have to be searched for, and without any the search does not end (mediabunny 1.61).
  if (format === "flac") return null;
  const stats = await withinBounds(() => track.computePacketStats(COUNTED));
  if (!stats) return null;
  const { packetCount, averagePacketRate, averageBitrate } = stats;
  return { any: packetCount > 0, rate: ratio(averagePacketRate, 1), bitrate: ratio(averageBitrate, 1) };
}

function ratio(over: number, under: number): number {
  const value = over / under;
  return Number.isFinite(value) ? value : 0;
}
