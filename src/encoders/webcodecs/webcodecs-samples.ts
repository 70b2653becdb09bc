import { EncodedPacketSink, type InputVideoTrack, VideoSample, VideoSampleSink } from "mediabunny";

/**
 * Decodes the pictures of a track in order, from the one that is on screen at `from` up to, not including, `until`; seconds on the track's
 * clock. The caller closes each. Decoding ends with the iteration.
 */
export async function* samplesOf(
  track: InputVideoTrack,
  from: number,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<VideoSample, void> {
  const isOwn = await hasHidden(track);
  yield* isOwn ? vp8Samples(track, from, until) : new VideoSampleSink(track).samples(from, until);
}

/** Decodes the picture that is on screen at a time, else the first one; null where there is none. The caller closes it. */
export async function sampleAt(track: InputVideoTrack, at: number): Promise<VideoSample | null> {
  if (await hasHidden(track)) {
    for await (const sample of vp8Samples(track, at, Number.POSITIVE_INFINITY)) return sample;
    return null;
  }
  const sink = new VideoSampleSink(track);
  return (await sink.getSample(at)) ?? sink.getSample(await track.getFirstTimestamp());
}

async function hasHidden(track: InputVideoTrack): Promise<boolean> {
  return (await track.getCodec()) === "vp8" && !(await track.canBeTransparent());
}

// A packet of VP8 may hold a picture that is never shown. mediabunny (1.61) takes every packet for a picture, and would give all after
// it the time of an earlier one; VP8 has no pictures out of order, so each can keep its own.
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

// Packets that wait to be decoded.
const WAITING = 8;
const WITH_KEYS = { verifyKeyPackets: true } as const;

async function* decodeAll(track: InputVideoTrack, from: number): AsyncGenerator<VideoSample, void> {
  const config = await track.getDecoderConfig();
  if (!config) return;
  const facts = { ticks: await track.getTimeResolution(), rotation: await track.getRotation() };
  const sink = new EncodedPacketSink(track);
  const ready: VideoSample[] = [];
  const broken = Promise.withResolvers<never>();
  // It is heard of where it is raced for.
  broken.promise.catch(() => {});
  const decoder = new VideoDecoder({
    output: (frame) => ready.push(toSample(frame, facts)),
    error: broken.reject,
  });
  try {
    decoder.configure({ ...config, colorSpace: told(config.colorSpace) });
    let packet = (await sink.getKeyPacket(from, WITH_KEYS)) ?? (await sink.getFirstKeyPacket(WITH_KEYS));
    while (packet) {
      // An empty one repeats the picture before.
      if (packet.byteLength > 0) decoder.decode(packet.toEncodedVideoChunk());
      while (decoder.decodeQueueSize > WAITING) await Promise.race([dequeued(decoder), broken.promise]);
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

// Whoever takes one closes it.
function* drain(ready: VideoSample[]): Generator<VideoSample, void> {
  for (let sample = ready.shift(); sample; sample = ready.shift()) yield sample;
}

// Frames count in microseconds, the file in ticks of its own.
function toSample(frame: VideoFrame, { ticks, rotation }: { ticks: number; rotation: 0 | 90 | 180 | 270 }) {
  const onTicks = (microseconds: number) => Math.round((microseconds * ticks) / 1e6) / ticks;
  const sample = new VideoSample(frame, { rotation });
  sample.setTimestamp(onTicks(frame.timestamp));
  sample.setDuration(onTicks(frame.duration ?? 0));
  return sample;
}

// What is not told is BT.709, as mediabunny has it for the other codecs.
function told(colors: VideoColorSpaceInit = {}): VideoColorSpaceInit {
  const { primaries, transfer, matrix, fullRange } = colors;
  return {
    primaries: primaries ?? "bt709",
    transfer: transfer ?? "bt709",
    matrix: matrix ?? "bt709",
    fullRange: fullRange ?? false,
  };
}
