import {
  type EncodedPacket,
  EncodedPacketSink,
  type InputVideoTrack,
  VideoSample,
  VideoSampleSink,
} from "mediabunny";
import { EPSILON_SECONDS } from "../../media/clock.ts";
import { isDisposable, isShown } from "../../probe/codec-headers.ts";
import { bytesOf } from "../../util/bytes.ts";
import * as errors from "../errors.ts";

export interface FrameSpan {
  /** Start of the span in seconds on the track's clock. */
  start: number;
  /** Length in seconds; null up to the end of the track. */
  length: number | null;
  /** Start of the first visible picture, in seconds relative to the span: 0 or less. */
  firstPicture: number;
  /** Seconds of source in a second of output. */
  speed: number;
  /** Constant frames per second; null keeps the source's times. */
  fps: number | null;
  /** Latest point at which decoding may start, in seconds on the track's clock. */
  decode_from: number;
  /**
   * Repeats of the last picture when the source's times stay: their number, the first one's time in seconds relative to the span, and the
   * seconds between them.
   */
  freeze?: { count: number; from: number; seconds: number };
  /** Called with the time of every decoded picture, in seconds relative to the span. */
  onDecoded(at: number): void;
}

/** A picture of the output; the iteration closes it before the next one. */
export interface TimedSample {
  sample: VideoSample;
  /** Seconds of output, relative to the span. */
  at: number;
  /** Seconds. */
  duration: number;
}

// A frame halfway between two output frames must go to the same one in every chunk.
const ROUNDING = 0.001;

/**
 * Decodes the pictures of a span and assigns their output times. At a constant rate, picture k is the one nearest to k/fps or the last
 * before it, and the last is repeated to the end; otherwise each keeps its time. Decoding stops with the iteration.
 */
export function timedSamples(track: InputVideoTrack, span: FrameSpan): AsyncGenerator<TimedSample, void> {
  return span.fps === null ? atSourceTimes(track, span) : atConstantRate(track, span, span.fps);
}

// Rounding would make a span that starts at a keyframe decode from the previous keyframe.
async function readFrom(
  track: InputVideoTrack,
  { start, decode_from }: FrameSpan,
  before: number,
): Promise<number> {
  const key = await new EncodedPacketSink(track).getKeyPacket(start + EPSILON_SECONDS, {
    metadataOnly: true,
  });
  const from = key && key.timestamp >= start - before ? key.timestamp : start - before;
  return Math.min(from, decode_from);
}

/** Lists the presentation times of a span's packets, in seconds relative to its start, without hidden pictures. */
export async function listTimes(track: InputVideoTrack, { start, length }: FrameSpan): Promise<number[]> {
  const sink = new EncodedPacketSink(track);
  const times: number[] = [];
  const end = length === null ? Number.POSITIVE_INFINITY : length + MAX_REORDER_SECONDS;
  const isVp8 = (await track.getCodec()) === "vp8";
  const options = { metadataOnly: !isVp8 };
  let packet = (await sink.getKeyPacket(start, options)) ?? (await sink.getFirstPacket(options));
  while (packet && packet.timestamp - start < end) {
    if (!isVp8 || isShown(packet.data)) times.push(packet.timestamp - start);
    packet = await sink.getNextPacket(packet, options);
  }
  return times;
}

const MAX_REORDER_SECONDS = 2;

async function* atSourceTimes(track: InputVideoTrack, span: FrameSpan) {
  const { start, length, firstPicture, speed, onDecoded } = span;
  const { count, from, seconds } = span.freeze ?? { count: 0, from: 0, seconds: 0 };
  const end = length === null ? Number.POSITIVE_INFINITY : length - EPSILON_SECONDS;
  let last: VideoSample | null = null;
  try {
    for await (const sample of samplesOf(track, await readFrom(track, span, EPSILON_SECONDS), start + end)) {
      last?.close();
      last = sample;
      const at = sample.timestamp - start;
      onDecoded(at);
      const duration = Math.max(0, sample.duration + Math.min(0, at));
      if (at >= firstPicture - EPSILON_SECONDS) {
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
  let current: VideoSample | null = null;
  let next = 0;
  try {
    for await (const sample of samplesOf(track, await readFrom(track, span, 0))) {
      onDecoded(sample.timestamp - start);
      const until = Math.min(place(sample.timestamp), count ?? Number.POSITIVE_INFINITY);
      if (current) for (; next < until; next++) yield timed(current, next);
      current?.close();
      current = sample;
      if (next === count) return;
    }
    if (!current) return;
    const total = count ?? Math.max(1, place(current.timestamp + current.duration));
    for (; next < total; next++) yield timed(current, next);
  } finally {
    current?.close();
  }
}

/**
 * Decodes the pictures of a track in order, from the one visible at `from` up to but excluding `until`, in seconds on the track's clock.
 * The caller closes each. Decoding stops with the iteration.
 */
async function* samplesOf(
  track: InputVideoTrack,
  from: number,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<VideoSample, void> {
  const isOwn = await hasHidden(track);
  yield* isOwn ? vp8Samples(track, from, until) : new VideoSampleSink(track).samples(from, until);
}

/**
 * Decodes the picture visible at a time, or the first one if none is; the caller closes it. Rejects with `input_no_video` when there are no
 * pictures.
 */
export async function sampleAt(track: InputVideoTrack, at: number): Promise<VideoSample> {
  if (await hasHidden(track)) {
    for await (const sample of vp8Samples(track, at, Number.POSITIVE_INFINITY)) return sample;
    throw errors.noPictures();
  }
  const sink = new VideoSampleSink(track);
  const sample = (await sink.getSample(at)) ?? (await sink.getSample(await track.getFirstTimestamp()));
  if (!sample) throw errors.noPictures();
  return sample;
}

/** Decodes the pictures visible at ascending times, like {@link sampleAt}, but each packet at most once; the caller closes each sample. */
export async function* samplesAt(
  track: InputVideoTrack,
  times: readonly number[],
): AsyncGenerator<VideoSample, void> {
  if (await hasHidden(track)) {
    for (const at of times) yield await sampleAt(track, at);
    return;
  }
  let index = 0;
  for await (const sample of new VideoSampleSink(track).samplesAtTimestamps(times)) {
    const at = times[index++] ?? 0;
    yield sample ?? (await sampleAt(track, at));
  }
}

async function hasHidden(track: InputVideoTrack): Promise<boolean> {
  return (await track.getCodec()) === "vp8" && !(await track.canBeTransparent());
}

// mediabunny (1.61) counts hidden pictures of VP8, which shifts later times; VP8 never reorders, so each picture has its packet's time.
async function* vp8Samples(track: InputVideoTrack, from: number, until: number) {
  const ready: VideoSample[] = [];
  try {
    for await (const sample of decodeAll(track, from)) {
      if (sample.timestamp >= until) {
        sample.close();
        break;
      }
      if (sample.timestamp <= from) ready.shift()?.close();
      ready.push(sample);
      if (sample.timestamp >= from) yield* drain(ready);
    }
    yield* drain(ready);
  } finally {
    for (const sample of ready) sample.close();
  }
}

const MAX_QUEUED = 8;
const VERIFY_KEYS = { verifyKeyPackets: true } as const;

/**
 * Decodes the pictures from the one visible at `start` up to but excluding `end`, in seconds on the track's clock, faster than
 * a player: pictures before them to which no other refers are left out. The caller closes each.
 */
export async function* samplesBetween(
  track: InputVideoTrack,
  start: number,
  end: number,
): AsyncGenerator<VideoSample, void> {
  const config = await track.getDecoderConfig();
  const description = config?.description ? bytesOf(config.description) : null;
  const isAvc = (await track.getCodec()) === "avc";
  // The picture visible at the start may have begun a while before it.
  const first = (await new EncodedPacketSink(track).getPacket(start + EPSILON_SECONDS, TIMES_ONLY))
    ?.timestamp;
  const visible = first ?? start;
  const skip = ({ timestamp, data }: EncodedPacket) =>
    isAvc && timestamp < visible - EPSILON_SECONDS && isDisposable(data, description);
  for await (const sample of decodeAll(track, visible + EPSILON_SECONDS, skip)) {
    if (sample.timestamp < visible - EPSILON_SECONDS) {
      sample.close();
      continue;
    }
    if (sample.timestamp >= end - EPSILON_SECONDS) return sample.close();
    const isLast = sample.timestamp + sample.duration >= end - EPSILON_SECONDS;
    yield sample;
    if (isLast) return;
  }
}

const TIMES_ONLY = { metadataOnly: true } as const;

async function* decodeAll(
  track: InputVideoTrack,
  from: number,
  skip: (packet: EncodedPacket) => boolean = () => false,
): AsyncGenerator<VideoSample, void> {
  const config = await track.getDecoderConfig();
  if (!config) return;
  const facts = { ticks: await track.getTimeResolution(), rotation: await track.getRotation() };
  const sink = new EncodedPacketSink(track);
  const ready: VideoSample[] = [];
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {});
  const decoder = new VideoDecoder({
    output: (frame) => ready.push(toSample(frame, facts)),
    error: broken.reject,
  });
  try {
    decoder.configure({ ...config, colorSpace: withDefaults(config.colorSpace) });
    let packet = (await sink.getKeyPacket(from, VERIFY_KEYS)) ?? (await sink.getFirstKeyPacket(VERIFY_KEYS));
    while (packet) {
      // An empty packet repeats the previous picture.
      if (packet.byteLength > 0 && !skip(packet)) decoder.decode(packet.toEncodedVideoChunk());
      while (decoder.decodeQueueSize > MAX_QUEUED) await Promise.race([dequeued(decoder), broken.promise]);
      yield* drain(ready);
      packet = await sink.getNextPacket(packet);
    }
    await Promise.race([decoder.flush(), broken.promise]);
    yield* drain(ready);
  } finally {
    if (decoder.state !== "closed") decoder.close();
    for (const sample of ready) sample.close();
  }
}

function dequeued(decoder: VideoDecoder): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  decoder.addEventListener("dequeue", () => resolve(), { once: true });
  return promise;
}

function* drain(ready: VideoSample[]): Generator<VideoSample, void> {
  for (let sample = ready.shift(); sample; sample = ready.shift()) yield sample;
}

function toSample(frame: VideoFrame, { ticks, rotation }: { ticks: number; rotation: 0 | 90 | 180 | 270 }) {
  const onTicks = (microseconds: number) => Math.round((microseconds * ticks) / 1e6) / ticks;
  const sample = new VideoSample(frame, { rotation });
  sample.setTimestamp(onTicks(frame.timestamp));
  sample.setDuration(onTicks(frame.duration ?? 0));
  return sample;
}

// mediabunny also takes unspecified colors for BT.709.
function withDefaults(colors: VideoColorSpaceInit = {}): VideoColorSpaceInit {
  const { primaries, transfer, matrix, fullRange } = colors;
  return {
    primaries: primaries ?? "bt709",
    transfer: transfer ?? "bt709",
    matrix: matrix ?? "bt709",
    fullRange: fullRange ?? false,
  };
}
