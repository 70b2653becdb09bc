import { DEFAULT_FPS } from "../media/features/fps.ts";
import type { Plan } from "./plan.ts";

/** Container overhead in bytes: once per file with pictures, once per file of sound alone, per picture, and per audio packet. */
export const CONTAINER_BYTES = { video: 4_000, audio: 1_000, picture: 20, packet: 9 } as const;

/** Share of a target size to request from an encoder, whose average is only approximate. */
export const FILLED = { video: 0.9, audio: 0.96 } as const;

// Samples per AAC packet; the other codecs have about as many.
const PACKET_SAMPLES = 1024;

/** Returns the container overhead of audio packets in bits per second. */
export function packetBits(sample_rate: number): number {
  return (sample_rate / PACKET_SAMPLES) * CONTAINER_BYTES.packet * 8;
}

/** Returns the bytes of a video file that are neither pictures nor sound. */
export function videoOverhead(frames: Plan["frames"], seconds: number): number {
  return CONTAINER_BYTES.video + (frames ?? seconds * DEFAULT_FPS) * CONTAINER_BYTES.picture;
}
