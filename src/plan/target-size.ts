import { MediaError } from "../core/errors.ts";
import { BOUNDS, type EncodeKind, QUALITIES, type Quality } from "../core/formats.ts";
import type { AudioOptions, OptionsOf, VideoOptions } from "../core/options.ts";
import type { Source } from "../core/source.ts";
import { createAudioPlan } from "./audio.ts";
import { streamBits } from "./bits.ts";
import { createPlan } from "./create-plan.ts";
import type { AudioPlan, Plan } from "./plan.ts";

/** Bytes that a file takes beside its streams: once with pictures and once without, for each picture, and for each packet of sound. */
export const CONTAINER_BYTES = { video: 4_000, audio: 1_000, picture: 20, packet: 9 } as const;

// Encoders come near an average and not closer.
const FILLED = { video: 0.9, audio: 0.96 } as const;

// Sound gives way before pictures do.
const SOUND_SHARE = 0.2;

// Beyond so many times the bits of its source a stream only grows.
const WORTH = 2;

// The bitrates of MPEG-1 and of MPEG-2 layer III; LAME takes the nearest one, which may lie above.
const MP3 = {
  fast: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  slow: [32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

// In a packet of AAC; the other codecs have about as many.
const PACKET_SAMPLES = 1024;

const DEFAULT_FPS = 30;

/**
 * Gives the options by which a video or a sound stays within a number of bytes: its bitrate, and for a video the quality of its
 * sound where that gives way. They never ask for more than twice the source's own bits. Throws `invalid_options` with `param`
 * `target_bytes` where no bitrate can do it, where the length is unknown, and for what has no bitrate; and what `createPlan` throws.
 */
export function optionsForSize<K extends EncodeKind>(
  kind: K,
  options: OptionsOf<K>,
  source: Source,
  bytes: number,
): OptionsOf<K> {
  if (!Number.isFinite(bytes) || bytes <= 0) throw fault("The target size must be a number above 0.");
  if (kind === "video") return videoForSize(options as VideoOptions, source, bytes) as OptionsOf<K>;
  if (kind === "audio") return audioForSize(options as AudioOptions, source, bytes) as OptionsOf<K>;
  throw fault("A target size is for video and sound alone; here the size in pixels and the quality decide.");
}

function videoForSize(options: VideoOptions, source: Source, bytes: number): VideoOptions {
  const { min, max } = BOUNDS.video_bitrate;
  const plan = createPlan(source, "video", { ...options, bitrate: min });
  const seconds = secondsOf(plan);
  const beside = CONTAINER_BYTES.video + (plan.frames ?? seconds * DEFAULT_FPS) * CONTAINER_BYTES.picture;
  const sounds = soundsFor(options, source, plan);
  const least = beside + ((min / FILLED.video + Math.min(...sounds.map(({ bits }) => bits))) * seconds) / 8;
  if (bytes < least) throw tooSmall(bytes, least, seconds);
  const total = ((bytes - beside) * 8) / seconds;
  const sound = bestWithin(sounds, Math.min(total * SOUND_SHARE, total - min / FILLED.video));
  const most = Math.min(max, Math.max(min, WORTH * (streamBits(source, "video") ?? max)));
  const bitrate = Math.round(Math.min(most, (total - sound.bits) * FILLED.video));
  return { ...options, ...(sound.quality && { quality: sound.quality }), bitrate: Math.max(min, bitrate) };
}

function audioForSize(options: AudioOptions, source: Source, bytes: number): AudioOptions {
  const { min, max } = BOUNDS.audio_bitrate;
  const plan = createPlan(source, "audio", { ...options, bitrate: max });
  const { audio, format } = plan;
  if (audio?.mode !== "encode" || audio.bitrate === null) {
    throw fault(
      `${format} keeps all of the sound and has no bitrate; a target size needs mp3, aac, ogg or opus.`,
    );
  }
  const seconds = secondsOf(plan);
  const beside = CONTAINER_BYTES.audio + (seconds * packetBits(audio.sample_rate)) / 8;
  const least = beside + (min / FILLED.audio) * (seconds / 8);
  if (bytes < least) throw tooSmall(bytes, least, seconds);
  const most = Math.min(audio.bitrate, Math.max(min, WORTH * (streamBits(source, "audio") ?? max)));
  const wanted = Math.round(Math.min(most, (((bytes - beside) * 8) / seconds) * FILLED.audio));
  return {
    ...options,
    bitrate: Math.max(min, audio.codec === "mp3" ? steppedDown(wanted, audio.sample_rate) : wanted),
  };
}

/** Sound as it may be beside the pictures, with its packets' overhead; without a quality it is as the options have it. */
interface Sound {
  bits: number;
  quality?: Quality;
}

// The best first.
function soundsFor(options: VideoOptions, source: Source, { audio, start, end }: Plan): Sound[] {
  if (!audio) return [{ bits: 0 }];
  const own = streamBits(source, "audio");
  const copied =
    audio.mode === "copy" && own !== null
      ? [{ bits: own + packetBits(source.audio?.sample_rate ?? 48_000) }]
      : [];
  const trimmed = start > 0 || end !== null;
  const best = QUALITIES.indexOf(options.quality ?? "medium");
  const encoded = QUALITIES.slice(0, best + 1).map((quality) => {
    const made = createAudioPlan(source, audio.codec as Encoded["codec"], { quality, trimmed });
    return { bits: bitsOf(made), quality };
  });
  return [...copied, ...encoded.reverse()];
}

type Encoded = Extract<AudioPlan, { mode: "encode" }>;

function bitsOf(audio: AudioPlan): number {
  return audio.mode === "encode" ? (audio.bitrate ?? 0) + packetBits(audio.sample_rate) : 0;
}

function bestWithin(sounds: readonly Sound[], bits: number): Sound {
  const least = sounds.reduce((least, sound) => (sound.bits < least.bits ? sound : least));
  return sounds.find((sound) => sound.bits <= bits) ?? least;
}

/** Gives the bits per second that packets of sound take in a file beside what is in them. */
export function packetBits(sample_rate: number): number {
  return (sample_rate / PACKET_SAMPLES) * CONTAINER_BYTES.packet * 8;
}

function steppedDown(bitrate: number, sample_rate: number): number {
  const steps = sample_rate >= 32_000 ? MP3.fast : MP3.slow;
  return 1000 * (steps.findLast((step) => step * 1000 <= bitrate) ?? steps[0]);
}

function secondsOf({ duration }: Plan): number {
  if (duration !== null) return duration;
  throw fault("How long this takes to play is not known, so no bitrate can be worked out; choose a quality.");
}

function tooSmall(bytes: number, least: number, seconds: number): MediaError {
  const [given, needed] = [Math.floor(bytes / 1000), Math.ceil(least / 1000)];
  return fault(
    `${given} kB cannot hold ${Number(seconds.toFixed(1))} s; at the lowest bitrate it takes ${needed} kB. Allow more, or cut it shorter.`,
  );
}

function fault(message: string): MediaError {
  return new MediaError("invalid_options", message, { param: "target_bytes" });
}
