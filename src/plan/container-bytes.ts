import type { Plan } from "./plan.ts";
import { DEFAULT_FPS } from "./rate.ts";

/** Bytes that a file takes beside its streams: once with pictures and once without, for each picture, and for each packet of sound. */
export const CONTAINER_BYTES = { video: 4_000, audio: 1_000, picture: 20, packet: 9 } as const;

/** Share of a size in bytes that is asked of an encoder: it comes near an average and not closer. */
export const FILLED = { video: 0.9, audio: 0.96 } as const;

// In a packet of AAC; the other codecs have about as many.
const PACKET_SAMPLES = 1024;

/** Returns the bits per second that packets of sound take in a file beside their content. */
export function packetBits(sample_rate: number): number {
  return (sample_rate / PACKET_SAMPLES) * CONTAINER_BYTES.packet * 8;
}

/** Returns the bytes of a video file that are neither pictures nor sound. */
export function videoOverhead(frames: Plan["frames"], seconds: number): number {
  return CONTAINER_BYTES.video + (frames ?? seconds * DEFAULT_FPS) * CONTAINER_BYTES.picture;
}
