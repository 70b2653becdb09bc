import {
  EncodedAudioPacketSource,
  EncodedVideoPacketSource,
  MovOutputFormat,
  Mp4OutputFormat,
  Output,
  type OutputFormat,
  StreamTarget,
  type StreamTargetChunk,
  WebMOutputFormat,
} from "mediabunny";
import { MediaError } from "../../core/errors.ts";
import type { VideoFormat } from "../../core/formats.ts";
import type { ByteReader } from "../../core/ports.ts";
import { CREATION_TIME } from "../../core/tags.ts";
import { type FileMetadata, muxerTags } from "../run/file-metadata.ts";
import { createRehearsal, createReplay } from "./append-only.ts";
import { setCreationTime } from "./creation-time.ts";
import { createOpener, misfit, openPictures, openSound, type Stretch } from "./packets.ts";
import { createGatherer } from "./stitch-gather.ts";
import { planMp4 } from "./stitch-mp4.ts";
import { hideTargetType } from "./webm-target.ts";

/** What is put together. */
export interface Stitching {
  format: VideoFormat;
  /** In order of time. */
  video: readonly Stretch[];
  audio: ByteReader | null;
  /** Seconds at which the last picture ends; null or absent where its packet's own duration is all that is known. */
  until?: number | null | undefined;
  /** Whether a part is the source itself, which others made: what is wrong with it is told as such. */
  of_source?: boolean;
  /** Tags and cover, which parts have none of. */
  metadata?: FileMetadata | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Puts encoded stretches and their sound together by copying packets, and gives the file from the front to the end: MP4
 * and MOV with their index first, WebM with its cues. Memory is bounded by that index: some bytes a packet of parts as the encoders
 * write them, an object a packet of any other MP4 or MOV, and in a WebM something for each keyframe. The stream errors with
 * `encode_failed` when the parts do not go together, or `input_unsupported` where one of them is the source; it never ends before the file is whole.
 */
export function stitch(stitching: Stitching): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  run(stitching, (bytes) => writer.write(bytes))
    .then(
      () => writer.close(),
      (thrown: unknown) => writer.abort(thrown),
    )
    // Whoever reads the stream has the error already, or has gone.
    .catch(() => {});
  return readable;
}

async function run(stitching: Stitching, write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
  try {
    const { format, metadata } = stitching;
    const dated = format === "webm" ? write : setCreationTime(metadata?.tags[CREATION_TIME], write);
    const copy = format === "webm" ? null : await planMp4({ ...stitching, format });
    if (copy) return await copy(dated);
    // The index stands before what it lists, so the packets pass twice: at first by size alone.
    const { rehearsal, writable } = createRehearsal();
    await mux(stitching, writable, true);
    let written = 0;
    const tagged = format === "webm" && metadata !== undefined;
    const gatherer = createGatherer(tagged ? hideTargetType(write) : dated);
    const replay = createReplay(rehearsal, (bytes) => {
      written += bytes.length;
      return gatherer.add(bytes);
    });
    await mux(stitching, replay, false);
    if (written !== rehearsal.size) throw misfit(`${written} bytes came out instead of ${rehearsal.size}`);
    await gatherer.flush();
  } catch (thrown) {
    stitching.signal?.throwIfAborted();
    const error = thrown instanceof MediaError ? thrown : misfit("they are damaged", thrown);
    if (!stitching.of_source || error.kind !== "encode_failed") throw error;
    const message = "The input cannot be read to its end: it is damaged or cut off.";
    throw new MediaError("input_unsupported", message, { cause: error });
  }
}

async function mux(
  { format, video, audio, until, metadata, signal }: Stitching,
  writable: WritableStream<StreamTargetChunk>,
  rehearsing: boolean,
): Promise<void> {
  const opener = createOpener(signal);
  const output = new Output({ format: OUTPUTS[format](), target: new StreamTarget(writable) });
  try {
    const sound = audio && (await openSound(opener.open(audio)));
    // WebM has no times before 0 to put the priming at, so the pictures wait for it.
    const late = sound?.delay ?? 0;
    const pictures = await openPictures(
      video.map(({ input, at }) => ({ input, at: at + late })),
      opener,
      until == null ? null : until + late,
    );
    // What reserves a place for its index asks how large it becomes.
    const counted = async (track: { count(): Promise<number> }) =>
      format === "webm" ? {} : { maximumPacketCount: await track.count() };
    const pictureSource = new EncodedVideoPacketSource(pictures.codec);
    output.addVideoTrack(pictureSource, await counted(pictures));
    const soundSource = sound && new EncodedAudioPacketSource(sound.codec);
    if (soundSource) output.addAudioTrack(soundSource, await counted(sound));
    const tags = metadata && muxerTags(format, metadata);
    if (tags) output.setMetadataTags(tags);
    await output.start();

    const heard = sound?.packets(rehearsing);
    const soundMeta = sound ? { decoderConfig: sound.config } : {};
    let next = await heard?.next();
    const addSound = async (until: number) => {
      while (heard && next && !next.done && next.value.timestamp <= until) {
        signal?.throwIfAborted();
        await soundSource?.add(next.value, soundMeta);
        next = await heard.next();
      }
    };
    for await (const packet of pictures.packets(rehearsing)) {
      signal?.throwIfAborted();
      await addSound(packet.timestamp);
      await pictureSource.add(packet, { decoderConfig: pictures.config });
    }
    pictureSource.close();
    await addSound(Number.POSITIVE_INFINITY);
    soundSource?.close();
    await output.finalize();
  } catch (thrown) {
    await output.cancel().catch(() => {});
    throw thrown;
  } finally {
    opener.close();
  }
}

const OUTPUTS: Readonly<Record<VideoFormat, () => OutputFormat>> = {
  mp4: () => new Mp4OutputFormat({ fastStart: "reserve" }),
  mov: () => new MovOutputFormat({ fastStart: "reserve" }),
  webm: () => new WebMOutputFormat(),
};
