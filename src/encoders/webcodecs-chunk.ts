import {
  BufferTarget,
  type EncodedPacket,
  EncodedVideoPacketSource,
  MovOutputFormat,
  Mp4OutputFormat,
  Output,
  type OutputFormat,
  type VideoCodec as PacketCodec,
  WebMOutputFormat,
} from "mediabunny";
import { MediaError } from "../core/errors.ts";
import type { VideoCodec, VideoFormat } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import { sourceColor } from "../ffmpeg/color.ts";
import type { VideoEncode } from "../ffmpeg/video-args.ts";
import type { ChunkJob } from "./encoder.ts";
import { codecConfig } from "./webcodecs-config.ts";
import { startPictureEncoder } from "./webcodecs-encode.ts";
import { timedSamples } from "./webcodecs-frames.ts";
import { checkReadable, openInput, openPicturesOf } from "./webcodecs-input.ts";
import { createPainter } from "./webcodecs-picture.ts";
import { type Hold, holdFor } from "./webcodecs-rate.ts";
import type { Ability } from "./webcodecs-trial.ts";

/** Seconds between keyframes at the most, so that a player can seek. */
const KEYFRAME_SECONDS = 5;

const DEFAULT_FPS = 30;

/**
 * Encodes the pictures of a chunk into a file of the plan's format, in memory, with times from the start of the chunk. An
 * abort ends decoder and encoder at once, and every frame is closed. `hold` takes the place of what the plan's rate asks for.
 */
export async function encodePictures(
  job: ChunkJob,
  video: VideoEncode,
  ability: Ability,
  hold?: Hold,
): Promise<Uint8Array> {
  const { plan, source, signal } = job;
  signal.throwIfAborted();
  const input = openInput(job.input, signal);
  const { width, height } = video.geometry;
  const fps = video.fps ?? source.fps ?? DEFAULT_FPS;
  const file = startFile(plan.format as VideoFormat, video.codec);
  const encoder = startPictureEncoder({
    codec: video.codec,
    config: codecConfig(video.codec, { width, height }, fps),
    hold: hold ?? holdOf(video, source, fps, ability),
    write: file.write,
  });
  const stop = () => {
    encoder.close();
    input.dispose();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    await feed(job, video, ability, input, encoder);
    await encoder.finish();
    return await file.finish();
  } catch (thrown) {
    signal.throwIfAborted();
    await checkReadable(job.input);
    if (thrown instanceof MediaError) throw thrown;
    throw new MediaError("encode_failed", "The source's pictures could not be decoded to their end.", {
      cause: thrown,
    });
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
    await file.cancel();
  }
}

function holdOf(video: VideoEncode, source: Source, fps: number, { quantizer }: Ability): Hold {
  const { codec, rate, geometry } = video;
  const { width, height } = geometry;
  const stream = source.streams?.find(({ kind }) => kind === "video");
  const bitrate = stream?.bitrate ?? source.bitrate ?? null;
  const pixels = (source.coded_width ?? width) * (source.coded_height ?? height) * (source.fps ?? fps);
  const share = Math.min(1, (width * height * fps) / pixels) ** FEWER;
  const source_bits = bitrate === null ? null : bitrate * share;
  return holdFor({ codec, rate, width, height, fps, coarsest: quantizer, source_bits });
}

// Fewer pixels take more bits each, because neighbors are less alike.
const FEWER = 0.75;

async function feed(
  { chunk, plan, source, signal, onProgress }: ChunkJob,
  video: VideoEncode,
  ability: Ability,
  input: ReturnType<typeof openInput>,
  encoder: ReturnType<typeof startPictureEncoder>,
): Promise<void> {
  const { track, origin } = await openPicturesOf(input);
  const paint = createPainter({ ...video, scales: ability.scales, untold: isUntold(source) });
  const length = chunk.end === null ? null : chunk.end - chunk.start;
  const expected = length ?? (plan.duration === null ? null : plan.start + plan.duration - chunk.start);
  const span = { start: origin + chunk.start, length, fps: video.fps };
  let key = Number.NEGATIVE_INFINITY;
  for await (const { sample, at, duration } of timedSamples(track, span)) {
    signal.throwIfAborted();
    const frame = await paint(sample, {
      timestamp: Math.round(at * 1e6),
      duration: Math.round(duration * 1e6),
    });
    // A rounded time is not to put a keyframe off by one picture.
    const isKey = at >= key + KEYFRAME_SECONDS - duration / 2;
    if (isKey) key = at;
    await encoder.add(frame, isKey);
    if (expected) onProgress?.(Math.min(1, (at + duration) / expected));
  }
}

// Players take larger pictures for BT.709 where nothing is said.
const HD_HEIGHT = 720;

function isUntold(source: Source): boolean {
  return sourceColor(source).matrix === null && (source.coded_height ?? HD_HEIGHT) < HD_HEIGHT;
}

interface ChunkFile {
  write(packet: EncodedPacket, metadata: EncodedVideoChunkMetadata | undefined): Promise<void>;
  finish(): Promise<Uint8Array>;
  cancel(): Promise<void>;
}

function startFile(format: VideoFormat, codec: VideoCodec): ChunkFile {
  const target = new BufferTarget();
  const output = new Output({ format: OUTPUTS[format](), target });
  const source = new EncodedVideoPacketSource(PACKETS[codec]);
  output.addVideoTrack(source);
  let started: Promise<void> | null = null;
  return {
    async write(packet, metadata) {
      started ??= output.start();
      await started;
      await source.add(packet, metadata);
    },
    async finish() {
      if (!started)
        throw new MediaError("encode_failed", "There are no pictures in this stretch of the source.");
      await output.finalize();
      return new Uint8Array(target.buffer ?? new ArrayBuffer(0));
    },
    async cancel() {
      if (output.state === "pending" || output.state === "started") await output.cancel().catch(() => {});
    },
  };
}

const PACKETS = { h264: "avc", h265: "hevc", vp9: "vp9", av1: "av1" } as const satisfies Record<
  VideoCodec,
  PacketCodec
>;

const OUTPUTS: Readonly<Record<VideoFormat, () => OutputFormat>> = {
  mp4: () => new Mp4OutputFormat({ fastStart: "in-memory" }),
  mov: () => new MovOutputFormat({ fastStart: "in-memory" }),
  webm: () => new WebMOutputFormat(),
};
