import type { Source } from "../core/source.ts";
import { errorFor } from "../words/reason-words.ts";
import { streamBits } from "./bits.ts";
import { FILLED, packetBits, videoOverhead } from "./container-bytes.ts";
import type { Plan } from "./plan.ts";

/** Bits per second below which even the smallest pictures are unrecognizable. */
export const VIDEO_FLOOR = 24_000;

/**
 * Returns the bits per second left for a plan's pictures within a number of bytes; throws `invalid_options` when the
 * duration is unknown or too little is left.
 */
export function videoBitsWithin(bytes: number, { duration, frames, audio }: Plan, source: Source): number {
  const param = "options.target_size";
  if (duration === null) throw errorFor("invalid_options", { code: "size_unknown_duration" }, { param });
  const sound = audio ? soundBits(audio, source) : 0;
  const left = ((bytes - videoOverhead(frames, duration)) * 8) / duration - sound;
  const bitrate = Math.round(left * FILLED.video);
  if (bitrate >= VIDEO_FLOOR) return bitrate;
  throw errorFor("invalid_options", { code: "size_too_small", bytes, duration }, { param });
}

const DEFAULT_RATE = 48_000;

function soundBits(audio: NonNullable<Plan["audio"]>, source: Source): number {
  if (audio.mode === "encode") return (audio.bitrate ?? 0) + packetBits(audio.sample_rate);
  return (streamBits(source, "audio") ?? 0) + packetBits(source.audio?.sample_rate ?? DEFAULT_RATE);
}
