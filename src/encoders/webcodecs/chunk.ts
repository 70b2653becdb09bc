import {
  BufferTarget,
  type EncodedPacket,
  EncodedVideoPacketSource,
  type Input,
  Output,
  type VideoCodec as PacketCodec,
} from "mediabunny";
import { MediaError } from "../../media/errors.ts";
import { DEFAULT_FPS } from "../../media/features/fps.ts";
import { correctedColor } from "../../media/ffmpeg/color.ts";
import { countCrowded, countPictures, countRules } from "../../media/ffmpeg/packet-count.ts";
import type { VideoEncode } from "../../media/ffmpeg/picture-graph.ts";
import type { VideoCodec, VideoFormat } from "../../media/formats.ts";
import { outputSeconds, type Plan } from "../../media/plan.ts";
import { sourceBits } from "../../media/rates.ts";
import type { Source } from "../../media/source.ts";
import { freezePictures, KEYFRAME_SECONDS, picturesEnd } from "../../media/timeline.ts";
import { muxerFormat } from "../../mux/packets.ts";
import type { ChunkJob } from "../encoder.ts";
import * as errors from "../errors.ts";
import { listTimes, timedSamples } from "./frames.ts";
import { checkReadable, openInput, openPicturesOf } from "./input.ts";
import { createPainter } from "./painter.ts";
import {
  codecConfig,
  LAYERED,
  type PictureEncoder,
  type PictureEncoding,
  type RateControl,
  rateControlFor,
  startPictureEncoder,
} from "./picture-encoder.ts";
import type { Ability } from "./trial.ts";

// Seconds; containers round times to milliseconds.
const ROUNDING = 0.001;

/** One of several outputs encoded from the same pictures. */
export interface PictureOutput {
  video: VideoEncode;
  ability: Ability;
  /** Overrides the plan's rate control. */
  rateControl?: RateControl | undefined;
  /** Seconds between keyframes, counted from the first picture. */
  key_seconds: number;
  /** Receives each packet in decoding order, with times relative to the chunk's start. */
  write: PictureEncoding["write"];
}

/**
 * Encodes the pictures of a chunk into a file of the plan's format in memory, with times relative to the chunk's start. `rateControl`
 * overrides that of the plan. Rejects as {@link encodeOutputs} does.
 */
export async function encodePictures(
  job: ChunkJob,
  video: VideoEncode,
  ability: Ability,
  rateControl?: RateControl,
): Promise<Uint8Array> {
  job.signal.throwIfAborted();
  const file = startFile(job.plan.format as VideoFormat, video.codec);
  const { write } = file;
  try {
    await encodeOutputs(job, [{ video, ability, rateControl, key_seconds: KEYFRAME_SECONDS, write }]);
    // A picture may outlast its chunk and leave the next one empty.
    return await file.finish(job.chunk.track === "video");
  } finally {
    await file.cancel();
  }
}

/**
 * Decodes the pictures of a chunk once and encodes them for each output; resolves when all packets are written. An abort stops the
 * decoder and encoders at once and closes every frame. Rejects with `encode_failed` when the pictures cannot be decoded.
 */
export async function encodeOutputs(job: ChunkJob, outputs: readonly PictureOutput[]): Promise<void> {
  const { plan, source, signal } = job;
  signal.throwIfAborted();
  const input = await openInput(job.input, source, signal);
  const encoders = outputs.map(({ video, ability, rateControl, write }) => {
    const { width, height } = video.geometry;
    const fps = fpsOf(video, source, plan);
    return startPictureEncoder({
      codec: video.codec,
      config: { ...codecConfig(video.codec, { width, height }, fps), ...(ability.layers && LAYERED) },
      rateControl: rateControl ?? rateControlOf(video, source, ability, plan),
      write,
    });
  });
  const stop = () => {
    for (const encoder of encoders) encoder.close();
    input.dispose();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    await feed(job, outputs, input, encoders);
    for (const encoder of encoders) await encoder.finish();
  } catch (thrown) {
    signal.throwIfAborted();
    await checkReadable(job.input);
    throw thrown instanceof MediaError ? thrown : errors.picturesUnreadable({ cause: thrown });
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

function fpsOf(video: VideoEncode, source: Source, { speed = 1 }: Pick<Plan, "speed">): number {
  return video.fps ?? (source.fps ?? DEFAULT_FPS) * speed;
}

/** Returns the rate control for a plan: a bitrate if the encoder supports no quantizer. */
export function rateControlOf(
  video: VideoEncode,
  source: Source,
  { quantizer }: Ability,
  plan: Pick<Plan, "speed"> = {},
): RateControl {
  const { codec, rate, geometry } = video;
  const fps = fpsOf(video, source, plan);
  const { width, height } = geometry;
  const source_bits = sourceBits(source, { width, height, fps });
  return rateControlFor({ codec, rate, width, height, fps, coarsest: quantizer, source_bits });
}

async function feed(
  { chunk, plan, source, signal, onProgress, onCounts }: ChunkJob,
  outputs: readonly PictureOutput[],
  input: Input,
  encoders: readonly PictureEncoder[],
): Promise<void> {
  const [first] = outputs;
  if (!first) return;
  const { track, origin } = await openPicturesOf(input, source);
  const painters = outputs.map(({ video, ability }) =>
    createPainter({ ...video, scales: ability.scales, color: correctedColor(source) }),
  );
  const length = chunk.end === null ? null : chunk.end - chunk.start;
  const { speed = 1 } = plan;
  const expected = outputSeconds(plan, chunk);
  const decoded: number[] = [];
  const { fps } = first.video;
  const span = {
    start: origin + chunk.start,
    fps,
    speed,
    firstPicture: (chunk.shown_from ?? chunk.start) - chunk.start,
    length: fps === null ? length : (length ?? picturesEnd(source, chunk)),
    decode_from: origin + (chunk.decode_from ?? chunk.start),
    freeze: freezePictures(source, plan, chunk),
    onDecoded: (at: number) => void decoded.push(at),
  };
  const dues = outputs.map(() => Number.NEGATIVE_INFINITY);
  for await (const { sample, at, duration } of timedSamples(track, span)) {
    signal.throwIfAborted();
    const time = { timestamp: Math.round(at * 1e6), duration: Math.round(duration * 1e6) };
    for (const [index, { key_seconds }] of outputs.entries()) {
      const frame = await painters[index]?.(sample, time);
      const due = dues[index] ?? 0;
      // Rounding must not delay a keyframe by a picture; a keyframe due at the end belongs to the next chunk.
      const isKey = at + duration / 2 >= due && (length === null || due < length / speed - ROUNDING);
      if (isKey) dues[index] = nextKey(due, at, at + duration / 2, key_seconds);
      if (frame) await encoders[index]?.add(frame, isKey);
    }
    if (expected) onProgress?.(Math.min(1, (at + duration) / expected));
  }
  const times = await listTimes(track, span);
  const pictures = countPictures({ times, timed: true }, decoded, countRules(chunk, source));
  onCounts?.({ pictures: { ...pictures, ...countCrowded(decoded, source, fps, speed) } });
}

function nextKey(due: number, at: number, by: number, seconds: number): number {
  if (due === Number.NEGATIVE_INFINITY) return at + seconds;
  return due + (Math.floor((by - due) / seconds) + 1) * seconds;
}

/** A video file assembled in memory. */
export interface ChunkFile {
  write(packet: EncodedPacket, metadata: EncodedVideoChunkMetadata | undefined): Promise<void>;
  /** Resolves to the file. Rejects with `encode_failed` when it is empty, unless it is a `part` of the output. */
  finish(part: boolean): Promise<Uint8Array>;
  cancel(): Promise<void>;
}

function startFile(format: VideoFormat, codec: VideoCodec): ChunkFile {
  const target = new BufferTarget();
  const output = new Output({ format: muxerFormat(format, "in-memory"), target });
  const source = new EncodedVideoPacketSource(PACKETS[codec]);
  output.addVideoTrack(source);
  let started: Promise<void> | null = null;
  return {
    async write(packet, metadata) {
      started ??= output.start();
      await started;
      await source.add(packet, metadata);
    },
    async finish(part) {
      if (!started && !part) throw errors.emptySpan();
      started ??= output.start();
      await started;
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
