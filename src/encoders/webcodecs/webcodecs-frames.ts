import type { InputVideoTrack, VideoSample } from "mediabunny";
import { EncodedPacketSink } from "mediabunny";
import { isShown } from "../../probe/vp8-frame.ts";
import { samplesOf } from "./webcodecs-samples.ts";

export interface FrameSpan {
  /** Start of the stretch in seconds on the track's clock. */
  start: number;
  /** Length in seconds; null up to the end of the track. */
  length: number | null;
  /** Start of the picture visible at the beginning, in seconds relative to the stretch: 0 or less. */
  shown: number;
  /** Seconds of source in a second of output. */
  speed: number;
  /** Constant frames per second; null keeps the source's times. */
  fps: number | null;
  /** Latest point at which decoding may start, in seconds on the track's clock. */
  decode_from: number;
  /** Where the source's times are kept: how often the last picture is repeated, from when, and how far apart; in seconds relative to the stretch. */
  freeze?: { count: number; from: number; seconds: number };
  /** Called with the time of every decoded picture, in seconds relative to the stretch. */
  onDecoded(at: number): void;
}

/** A picture of the output. It belongs to the iteration, which closes it before the next one. */
export interface TimedSample {
  sample: VideoSample;
  /** Seconds of output, relative to the stretch. */
  at: number;
  /** Seconds. */
  duration: number;
}

// A frame on an edge, allowing for rounding, belongs only to the stretch that starts there.
const NUDGE = 0.0005;
// Times are sums of fractions: a frame halfway between two of the output must go to the same one in every chunk.
const ROUNDING = 0.001;

/**
 * Decodes the pictures of a stretch and assigns their output times. At a constant rate, picture k is the one nearest to
 * k/fps or the last before it, and the last is held to the end; otherwise each keeps its time. Decoding stops with the
 * iteration.
 */
export function timedSamples(track: InputVideoTrack, span: FrameSpan): AsyncGenerator<TimedSample, void> {
  return span.fps === null ? atSourceTimes(track, span) : atConstantRate(track, span, span.fps);
}

// A stretch that starts at a keyframe, allowing for rounding, needs nothing before it; without this check decoding would start at
// the previous keyframe.
async function readFrom(
  track: InputVideoTrack,
  { start, decode_from }: FrameSpan,
  before: number,
): Promise<number> {
  const key = await new EncodedPacketSink(track).getKeyPacket(start + NUDGE, { metadataOnly: true });
  const from = key && key.timestamp >= start - before ? key.timestamp : start - before;
  return Math.min(from, decode_from);
}

/** Lists the presentation times of a stretch's packets, in seconds relative to its start, without hidden pictures. */
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

// Most seconds by which packets may be out of presentation order.
const REORDERED = 2;

async function* atSourceTimes(track: InputVideoTrack, span: FrameSpan) {
  const { start, length, shown, speed, onDecoded } = span;
  const { count, from, seconds } = span.freeze ?? { count: 0, from: 0, seconds: 0 };
  const end = length === null ? Number.POSITIVE_INFINITY : length - NUDGE;
  let last: VideoSample | null = null;
  try {
    for await (const sample of samplesOf(track, await readFrom(track, span, NUDGE), start + end)) {
      last?.close();
      last = sample;
      const at = sample.timestamp - start;
      onDecoded(at);
      const duration = Math.max(0, sample.duration + Math.min(0, at));
      if (at >= shown - NUDGE) {
        yield { sample, at: Math.max(0, at) / speed, duration: duration / speed };
      }
    }
    if (!last) return;
    const after = Math.max(from, last.timestamp - start + seconds);
    for (let index = 0; index < count; index++)
      yield { sample: last, at: (after + index * seconds) / speed, duration: seconds / speed };
  } finally {
    last?.close();
  }
}

async function* atConstantRate(track: InputVideoTrack, span: FrameSpan, fps: number) {
  const { start, length, speed, onDecoded } = span;
  const count = length === null ? null : Math.max(1, Math.round((length / speed) * fps));
  const place = (time: number) => Math.floor(((time - start) / speed) * fps + 0.5 + ROUNDING);
  const timed = (sample: VideoSample, index: number) => ({ sample, at: index / fps, duration: 1 / fps });
  let held: VideoSample | null = null;
  let next = 0;
  try {
    for await (const sample of samplesOf(track, await readFrom(track, span, 0))) {
      onDecoded(sample.timestamp - start);
      const until = Math.min(place(sample.timestamp), count ?? Number.POSITIVE_INFINITY);
      // When the first picture comes late, it fills the gap before it.
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
