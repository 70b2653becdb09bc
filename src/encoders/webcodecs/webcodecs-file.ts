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
import { MediaError } from "../../core/errors.ts";
import type { VideoCodec, VideoFormat } from "../../core/formats.ts";

/** A video file assembled in memory. */
export interface ChunkFile {
  write(packet: EncodedPacket, metadata: EncodedVideoChunkMetadata | undefined): Promise<void>;
  /** Resolves to the file. Rejects with `encode_failed` when nothing was written, unless it is a `part` of the output. */
  finish(part: boolean): Promise<Uint8Array>;
  cancel(): Promise<void>;
}

export function startFile(format: VideoFormat, codec: VideoCodec): ChunkFile {
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
    async finish(part) {
      if (!started && !part)
        throw new MediaError("encode_failed", "There are no pictures in this stretch of the source.");
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

const OUTPUTS: Readonly<Record<VideoFormat, () => OutputFormat>> = {
  mp4: () => new Mp4OutputFormat({ fastStart: "in-memory" }),
  mov: () => new MovOutputFormat({ fastStart: "in-memory" }),
  webm: () => new WebMOutputFormat(),
};
