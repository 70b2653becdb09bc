import { EncodedPacket, EncodedVideoPacketSource, Mp4OutputFormat, NullTarget, Output } from "mediabunny";
import {
  measureStream,
  PLAYLIST,
  type SegmentRun,
  writeMaster,
  writeMediaPlaylist,
} from "../../media/ffmpeg/manifests.ts";
import { adaptiveMime, MASTER } from "../../media/ffmpeg/output-files.ts";
import type { VideoEncode } from "../../media/ffmpeg/picture-graph.ts";
import { outputStart, type Rendition } from "../../media/plan.ts";
import { firstSegment, GROUP_SECONDS, SEGMENT_SECONDS, shownEnd } from "../../media/timeline.ts";
import { findBox } from "../../probe/mp4-boxes.ts";
import { concatBytes, viewOf } from "../../util/bytes.ts";
import type { ChunkJob, EncodedFile } from "../encoder.ts";
import * as errors from "../errors.ts";
import { encodeOutputs, rateControlOf } from "./chunk.ts";
import type { PictureEncoding, RateControl } from "./picture-encoder.ts";
import type { Ability } from "./trial.ts";

/** Returns the parameters that encode a rendition of adaptive video as a separate video. */
export function videoOf(video: VideoEncode, { geometry, rate, fps }: Rendition): VideoEncode {
  return { ...video, geometry, rate, fps };
}

/**
 * Encodes the pictures of a chunk of adaptive video, all renditions from one decode, into segments of fragmented MP4 with their playlists
 * and a master playlist that lists codecs and sizes. Returns no files for a chunk beyond the last picture. Rejects as `encodePictures`
 * does.
 */
export async function encodeRenditions(
  job: ChunkJob,
  video: VideoEncode,
  abilities: readonly Ability[],
): Promise<EncodedFile[]> {
  const { plan, chunk, source } = job;
  const at = outputStart(plan, chunk);
  const first = firstSegment(plan, chunk);
  const until = shownEnd(source, plan, chunk);
  const outputs = plan.renditions.map((rendition, index) => {
    const own = videoOf(video, rendition);
    const ability = abilities[index];
    if (!ability) throw errors.renditionEncoderMissing({ rendition: rendition.name });
    const segments = startSegments({ folder: rendition.name, index: chunk.index, first, at, until });
    const rateControl = boundRate(rateControlOf(own, source, { ...ability, quantizer: null }), own);
    return {
      rendition,
      segments,
      video: own,
      ability,
      rateControl,
      key_seconds: GROUP_SECONDS,
      write: segments.write,
    };
  });
  try {
    await encodeOutputs(job, outputs);
    const encoded: { rendition: Rendition; segments: Segments }[] = [];
    for (const { rendition, segments } of outputs) {
      const own = await segments.finish();
      if (own) encoded.push({ rendition, segments: own });
    }
    if (encoded.length === 0 && chunk.track === "video") return [];
    if (encoded.length < outputs.length) throw errors.emptySpan();
    return [...encoded.flatMap(({ segments }) => segments.files), masterOf(encoded)];
  } finally {
    for (const { segments } of outputs) await segments.cancel();
  }
}

function boundRate(rateControl: RateControl, { rate }: VideoEncode): RateControl {
  if (!("bitrate" in rateControl) || !("maxrate" in rate) || rate.maxrate === undefined) return rateControl;
  return { bitrate: Math.min(rateControl.bitrate, rate.maxrate) };
}

function masterOf(encoded: readonly { rendition: Rendition; segments: Segments }[]): EncodedFile {
  const streams = encoded.map(({ rendition: { name, geometry }, segments: { run, files, codec } }) => {
    const sizes = new Map(files.map((file) => [file.name, file.bytes.length]));
    const rate = measureStream(
      run.segments.map((segment) => ({ seconds: segment.seconds, size: sizes.get(segment.name) ?? 0 })),
    );
    const { width, height } = geometry;
    return { uri: `${name}/${PLAYLIST}`, codecs: codec, width, height, rate };
  });
  const bytes = new TextEncoder().encode(writeMaster({ streams, sounds: [], fps: undefined }));
  return { name: MASTER, mime: adaptiveMime(MASTER), bytes };
}

/** The position of a chunk's segments in their stream. */
export interface SegmentPlace {
  /** Folder of the rendition, without a slash. */
  folder: string;
  /** Index of the chunk, which names its init segment. */
  index: number;
  /** Number of its first segment. */
  first: number;
  /** Start of the chunk in the stream, in seconds. */
  at: number;
  /** End of its last picture, in seconds relative to the chunk; null when unknown. */
  until: number | null;
}

interface Segments {
  /** Init segment, segments, and their playlist. */
  files: EncodedFile[];
  run: SegmentRun;
  /** Codec string of RFC 6381. */
  codec: string;
}

/** Writes H.264 packets, timed from the start of a chunk, into segments of fragmented MP4. */
export interface SegmentWriter {
  write: PictureEncoding["write"];
  /** Returns the segments; null when there were no packets. */
  finish(): Promise<Segments | null>;
  cancel(): Promise<void>;
}

interface Piece {
  /** Seconds in the stream. */
  start: number;
  bytes: Uint8Array;
}

// A keyframe may come half a picture early.
const MIN_SEGMENT_SECONDS = SEGMENT_SECONDS - 0.5;

/** Starts a {@link SegmentWriter}, which begins a segment at the first keyframe of every six seconds. */
function startSegments({ folder, index, first, at, until }: SegmentPlace): SegmentWriter {
  const head: Uint8Array[] = [];
  const pieces: Piece[] = [];
  let front: Piece | null = null;
  const format = new Mp4OutputFormat({
    fastStart: "fragmented",
    minimumFragmentDuration: MIN_SEGMENT_SECONDS,
    onFtyp: (bytes) => head.push(bytes.slice()),
    onMoov: (bytes) => head.push(withoutTimes(bytes)),
    onMoof(bytes, _, start) {
      front = { start, bytes: bytes.slice() };
    },
    onMdat(bytes) {
      if (front) pieces.push({ start: front.start, bytes: concatBytes([front.bytes, bytes]) });
    },
  });
  const output = new Output({ format, target: new NullTarget() });
  const source = new EncodedVideoPacketSource("avc");
  output.addVideoTrack(source);
  let codec: string | null = null;
  let end = 0;
  let pending: Parameters<typeof add>[0] | null = null;

  async function add(
    { packet, metadata }: { packet: EncodedPacket; metadata: EncodedVideoChunkMetadata | undefined },
    limit: number | null,
  ): Promise<void> {
    const { data, type, timestamp } = packet;
    const duration = limit !== null && limit > timestamp ? limit - timestamp : packet.duration;
    end = Math.max(end, at + timestamp + duration);
    await source.add(new EncodedPacket(data, type, at + timestamp, duration), metadata);
  }

  return {
    async write(packet, metadata) {
      if (codec === null) {
        codec = metadata?.decoderConfig?.codec ?? "";
        await output.start();
      }
      if (pending) await add(pending, null);
      pending = { packet, metadata };
    },
    async finish() {
      if (codec === null || !pending) return null;
      await add(pending, until);
      await output.finalize();
      const init = `${folder}/init_${index}.mp4`;
      const segments = pieces.map(({ start, bytes }, place) => {
        const seconds = (pieces[place + 1]?.start ?? end) - start;
        const name = `${folder}/seg_${String(first + place).padStart(5, "0")}.m4s`;
        return { name, seconds, line: `#EXTINF:${seconds.toFixed(6)},`, bytes };
      });
      const run = { init, segments };
      const playlist = new TextEncoder().encode(writeMediaPlaylist(`${folder}/`, [run]));
      const file = (name: string, bytes: Uint8Array) => ({ name, mime: adaptiveMime(name), bytes });
      const files = [
        file(init, concatBytes(head)),
        ...segments.map(({ name, bytes }) => file(name, bytes)),
        file(`${folder}/${PLAYLIST}`, playlist),
      ];
      return { files, run, codec };
    },
    async cancel() {
      if (output.state === "pending" || output.state === "started") await output.cancel().catch(() => {});
    },
  };
}

// Creation times would make identical init segments differ.
function withoutTimes(moov: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = moov.slice();
  const view = viewOf(bytes);
  const whole = { kind: "", start: 0, end: bytes.length };
  for (const path of [["mvhd"], ["trak", "tkhd"], ["trak", "mdia", "mdhd"]]) {
    const box = findBox(view, whole, "moov", ...path);
    if (box) bytes.fill(0, box.start + 4, box.start + (view.getUint8(box.start) === 1 ? 20 : 12));
  }
  return bytes;
}
