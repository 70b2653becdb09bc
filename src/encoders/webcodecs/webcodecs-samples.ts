import { EncodedPacketSink, type InputVideoTrack, VideoSample, VideoSampleSink } from "mediabunny";

/**
 * Decodes the pictures of a track in order, from the one visible at `from` up to but excluding `until`, in seconds on the
 * track's clock. The caller closes each. Decoding stops with the iteration.
 */
export async function* samplesOf(
  track: InputVideoTrack,
  from: number,
  until = Number.POSITIVE_INFINITY,
): AsyncGenerator<VideoSample, void> {
  const isOwn = await hasHidden(track);
  yield* isOwn ? vp8Samples(track, from, until) : new VideoSampleSink(track).samples(from, until);
}

/** Decodes the picture visible at a time, or else the first one; null when there is none. The caller closes it. */
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

// A VP8 packet may hold a picture that is never shown. mediabunny (1.61) counts every packet as a picture and would shift all
// later times; VP8 never reorders pictures, so each keeps the time of its packet.
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

// Most packets queued for decoding.
const WAITING = 8;
const WITH_KEYS = { verifyKeyPackets: true } as const;

async function* decodeAll(track: InputVideoTrack, from: number): AsyncGenerator<VideoSample, void> {
  const config = await track.getDecoderConfig();
  if (!config) return;
  const facts = { ticks: await track.getTimeResolution(), rotation: await track.getRotation() };
  const sink = new EncodedPacketSink(track);
  const ready: VideoSample[] = [];
  const broken = Promise.withResolvers<never>();
  // Observed where it is raced.
  broken.promise.catch(() => {});
  const decoder = new VideoDecoder({
    output: (frame) => ready.push(toSample(frame, facts)),
    error: broken.reject,
  });
  try {
    decoder.configure({ ...config, colorSpace: withDefaults(config.colorSpace) });
    let packet = (await sink.getKeyPacket(from, WITH_KEYS)) ?? (await sink.getFirstKeyPacket(WITH_KEYS));
    while (packet) {
      // An empty packet repeats the previous picture.
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

// The consumer closes each sample.
function* drain(ready: VideoSample[]): Generator<VideoSample, void> {
  for (let sample = ready.shift(); sample; sample = ready.shift()) yield sample;
}

// Frames count in microseconds, the file in its own ticks.
function toSample(frame: VideoFrame, { ticks, rotation }: { ticks: number; rotation: 0 | 90 | 180 | 270 }) {
  const onTicks = (microseconds: number) => Math.round((microseconds * ticks) / 1e6) / ticks;
  const sample = new VideoSample(frame, { rotation });
  sample.setTimestamp(onTicks(frame.timestamp));
  sample.setDuration(onTicks(frame.duration ?? 0));
  return sample;
}

// Unspecified colors count as BT.709, as mediabunny does for the other codecs.
function withDefaults(colors: VideoColorSpaceInit = {}): VideoColorSpaceInit {
  const { primaries, transfer, matrix, fullRange } = colors;
  return {
    primaries: primaries ?? "bt709",
    transfer: transfer ?? "bt709",
    matrix: matrix ?? "bt709",
    fullRange: fullRange ?? false,
  };
}
