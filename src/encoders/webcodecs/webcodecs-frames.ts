import type { InputVideoTrack, VideoSample } from "mediabunny";
import { EncodedPacketSink } from "mediabunny";
import { isShown } from "../../probe/vp8-frame.ts";
import { samplesOf } from "./webcodecs-samples.ts";

/** A stretch of a source's pictures, and how they are counted. */
export interface FrameSpan {
  /** Seconds on the track's own clock at which the stretch starts. */
  start: number;
  /** Seconds; null for to the end. */
  length: number | null;
  /** Seconds from the start of the stretch to where its first picture begins, which is on screen at the start: 0 or less. */
  shown: number;
  /** Constant frames per second, or null to keep the times of the source. */
  fps: number | null;
  /** Seconds on the track's own clock at which decoding begins at the latest. */
  decode_from: number;
  /** Called with the time of every decoded picture, in seconds from the start of the stretch. */
  onDecoded(at: number): void;
}

/** A picture of the output. It belongs to the iteration, and is closed when the next one is asked for. */
export interface TimedSample {
  sample: VideoSample;
  /** Seconds from the start of the stretch. */
  at: number;
  /** Seconds. */
  duration: number;
}

// A frame that lies on an edge but for rounding belongs to the stretch that starts there, and to no other.
const NUDGE = 0.0005;
// Times are sums of fractions: a frame in the middle between two of the output must fall to the same one in every chunk.
const ROUNDING = 0.001;

/**
 * Decodes the pictures of a stretch with the times of the output. At a constant rate picture k is the one nearest to k/fps
 * or the last before it, and the last is held to the end; else each keeps its time. Decoding ends with the iteration.
 */
export function timedSamples(track: InputVideoTrack, span: FrameSpan): AsyncGenerator<TimedSample, void> {
  return span.fps === null ? asTheyAre(track, span) : atConstantRate(track, span, span.fps);
}

// A stretch that starts at a keyframe, but for rounding, needs nothing of what comes before: else all of that would be decoded, from the
// keyframe before on.
async function readFrom(
  track: InputVideoTrack,
  { start, decode_from }: FrameSpan,
  before: number,
): Promise<number> {
  const key = await new EncodedPacketSink(track).getKeyPacket(start + NUDGE, { metadataOnly: true });
  const from = key && key.timestamp >= start - before ? key.timestamp : start - before;
  return Math.min(from, decode_from);
}

/** Lists the presentation times of a stretch's packets, in seconds from its start; those of hidden pictures are left out. */
export async function listTimes(track: InputVideoTrack, { start, length }: FrameSpan): Promise<number[]> {
  const sink = new EncodedPacketSink(track);
  const times: number[] = [];
  const end = length === null ? Number.POSITIVE_INFINITY : length + REORDERED;
  const isVp8 = (await track.getCodec()) === "vp8";
  const options = { metadataOnly: !isVp8 };
  let packet = (await sink.getKeyPacket(start, options)) ?? (await sink.getFirstPacket(options));
  while (packet && packet.timestamp - start < end) {
    if (!isVp8 || isShown(packet.data)) times.push(packet.timestamp - start);
    packet = await sink.getNextPacket(packet, options);
  }
  return times;
}

// Seconds by which packets lie out of order of presentation, at the most.
const REORDERED = 2;

async function* asTheyAre(track: InputVideoTrack, span: FrameSpan) {
  const { start, length, shown, onDecoded } = span;
  const end = length === null ? Number.POSITIVE_INFINITY : length - NUDGE;
  for await (const sample of samplesOf(track, await readFrom(track, span, NUDGE), start + end)) {
    try {
      const at = sample.timestamp - start;
      onDecoded(at);
      const duration = Math.max(0, sample.duration + Math.min(0, at));
      if (at >= shown - NUDGE) yield { sample, at: Math.max(0, at), duration };
    } finally {
      sample.close();
    }
  }
}

async function* atConstantRate(track: InputVideoTrack, span: FrameSpan, fps: number) {
  const { start, length, onDecoded } = span;
  const count = length === null ? null : Math.max(1, Math.round(length * fps));
  const place = (time: number) => Math.floor((time - start) * fps + 0.5 + ROUNDING);
  const timed = (sample: VideoSample, index: number) => ({ sample, at: index / fps, duration: 1 / fps });
  let held: VideoSample | null = null;
  let next = 0;
  try {
    for await (const sample of samplesOf(track, await readFrom(track, span, 0))) {
      onDecoded(sample.timestamp - start);
      const until = Math.min(place(sample.timestamp), count ?? Number.POSITIVE_INFINITY);
      // A first picture that comes late stands for what is missing before it.
      if (held) for (; next < until; next++) yield timed(held, next);
      held?.close();
      held = sample;
      if (next === count) return;
    }
    if (!held) return;
    const total = count ?? Math.max(1, place(held.timestamp + held.duration));
    for (; next < total; next++) yield timed(held, next);
  } finally {
    held?.close();
  }
}
