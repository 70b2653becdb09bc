import {
  EncodedAudioPacketSource,
  EncodedVideoPacketSource,
  Output,
  StreamTarget,
  type StreamTargetChunk,
} from "mediabunny";
import { isIsobmff, isQuickTime } from "../media/containers.ts";
import { MediaError } from "../media/errors.ts";
import type { VideoFormat } from "../media/formats.ts";
import { CREATION_TIME } from "../media/tags.ts";
import { MOVIE_EPOCH } from "../probe/mp4.ts";
import { type Box, findBox, listBoxes } from "../probe/mp4-boxes.ts";
import type { ByteReader } from "../runs/ports.ts";
import { concatBytes, viewOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import { type FileMetadata, muxerTags } from "./file-metadata.ts";
import { planJoin, planMp4 } from "./join-mp4.ts";
import { createGatherer } from "./mp4-boxes.ts";
import {
  type CopiedPictures,
  createOpener,
  muxerFormat,
  openPictures,
  openSound,
  type VideoPart,
} from "./packets.ts";
import { type OpenSplice, openSplice, type SpliceOptions } from "./splice.ts";

export interface StitchOptions {
  format: VideoFormat;
  /** Parts in order of time. */
  video: readonly VideoPart[];
  audio: ByteReader | null;
  /** Index of the track among those of sound that mediabunny lists. Default 0. */
  audioPlace?: number;
  /** Time of the output's start in seconds of the sound's clock. Default 0. */
  audioFrom?: number;
  /** End of the last picture in seconds; by default from its packet's duration. */
  until?: number | null | undefined;
  /** Whether a part is the source itself, whose faults are reported as the input's. */
  ofSource?: boolean;
  /** The source whose packets are copied range by range, instead of `video`. */
  splice?: SpliceOptions | undefined;
  /** Receives the seconds of copied sound of each part after all packets are written. */
  onSound?: ((seconds: readonly number[]) => void) | undefined;
  /** Ticks per second, when joining the pictures of sources. */
  ticks?: number | undefined;
  /** Tags and cover; the parts have none. */
  metadata?: FileMetadata | undefined;
  signal?: AbortSignal | undefined;
  /** Called now and then while a large file takes minutes. */
  onWait?: (() => void) | undefined;
}

/**
 * Joins encoded parts and their sound by copying packets, and streams the file from front to end: MP4 and MOV with the index
 * first, WebM with cues. The index bounds the memory: a few bytes per packet for parts from our encoders, an object per packet for
 * any other MP4 or MOV, an entry per keyframe for WebM. The stream errors with `encode_failed` when the parts do not fit together,
 * or `input_unsupported` when one of them is the source; it never closes before the file is complete.
 */
export function stitch(options: StitchOptions): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const write = (bytes: Uint8Array) => {
    options.onWait?.();
    return writer.write(bytes);
  };
  run(options, write)
    .then(
      () => writer.close(),
      (thrown: unknown) => writer.abort(thrown),
    )
    .catch(() => {});
  return readable;
}

async function run(options: StitchOptions, write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
  try {
    const { format, metadata } = options;
    const isMovie = isIsobmff(format);
    const dated = isMovie ? setCreationTime(metadata?.tags[CREATION_TIME], write) : write;
    const plan = options.ticks === undefined ? planMp4 : planJoin;
    const quicktime = isQuickTime(format);
    const copy = isMovie && !options.splice ? await plan({ ...options, quicktime }) : null;
    if (copy) return await copy(dated);
    const { rehearsal, writable } = createRehearsal();
    await mux(options, writable, true);
    let written = 0;
    const tagged = !isMovie && metadata !== undefined;
    const compact = isMovie ? dropReserve(dated) : write;
    const gatherer = createGatherer(tagged ? hideTargetType(write) : compact);
    const replay = createReplay(rehearsal, (bytes) => {
      written += bytes.length;
      return gatherer.add(bytes);
    });
    await mux(options, replay, false);
    if (written !== rehearsal.size) throw errors.sizeDiffers({ written, size: rehearsal.size });
    await gatherer.flush();
  } catch (thrown) {
    options.signal?.throwIfAborted();
    const error = thrown instanceof MediaError ? thrown : errors.partsDamaged({ cause: thrown });
    if (!options.ofSource || error.kind !== "encode_failed") throw error;
    throw errors.sourceDamaged({ cause: error });
  }
}

async function mux(
  options: StitchOptions,
  writable: WritableStream<StreamTargetChunk>,
  rehearsing: boolean,
): Promise<void> {
  const { format, video, audio, audioPlace, audioFrom, until, metadata, signal, onWait } = options;
  const opener = createOpener(signal);
  const output = new Output({ format: muxerFormat(format, "reserve"), target: new StreamTarget(writable) });
  let splice: OpenSplice | null = null;
  try {
    splice = options.splice ? await openSplice(options.splice) : null;
    const sound = audio
      ? await openSound(opener.open(audio), audioFrom, audioPlace)
      : (splice?.sound ?? null);
    // WebM cannot give the priming negative times, so the pictures are delayed instead.
    const delay = sound?.delay ?? 0;
    const pictures: CopiedPictures = splice
      ? await splice.pictures(opener, delay)
      : await openPictures(
          video.map((part) => ({ ...part, at: part.at + delay })),
          opener,
          until == null ? null : until + delay,
        );
    const counted = async (track: { count(): Promise<number> }) =>
      isIsobmff(format) ? { maximumPacketCount: await track.count() } : {};
    const pictureSource = new EncodedVideoPacketSource(pictures.codec);
    output.addVideoTrack(pictureSource, { ...pictures.metadata, ...(await counted(pictures)) });
    const soundSource = sound && new EncodedAudioPacketSource(sound.codec);
    const languageCode = metadata?.language;
    if (soundSource)
      output.addAudioTrack(soundSource, { ...(await counted(sound)), ...(languageCode && { languageCode }) });
    const tags = metadata && muxerTags(format, metadata);
    if (tags) output.setMetadataTags(tags);
    await output.start();

    const soundPackets = sound?.packets(rehearsing);
    const soundMeta = sound ? { decoderConfig: sound.config } : {};
    let next = await soundPackets?.next();
    const addSound = async (until: number) => {
      while (soundPackets && next && !next.done && next.value.timestamp <= until) {
        signal?.throwIfAborted();
        await soundSource?.add(next.value, soundMeta);
        next = await soundPackets.next();
      }
    };
    for await (const packet of pictures.packets(rehearsing)) {
      signal?.throwIfAborted();
      onWait?.();
      await addSound(packet.timestamp);
      await pictureSource.add(packet, { decoderConfig: pictures.config });
    }
    pictureSource.close();
    await addSound(Number.POSITIVE_INFINITY);
    soundSource?.close();
    await output.finalize();
    if (splice) options.onSound?.(splice.soundSeconds);
  } catch (thrown) {
    await output.cancel().catch(() => {});
    throw thrown;
  } finally {
    splice?.close();
    opener.close();
  }
}

/**
 * Sets the creation time of an MP4 or MOV and of its tracks, or clears it: mediabunny (1.61) writes the current time. The start of the
 * index must be in the first write, and all of it if mediabunny wrote it.
 */
function setCreationTime(
  time: string | undefined,
  write: (bytes: Uint8Array) => Promise<void>,
): (bytes: Uint8Array) => Promise<void> {
  let first = true;
  return (bytes) => {
    if (first) writeCreationTime(bytes, time === undefined ? 0 : Date.parse(time) / 1000 + MOVIE_EPOCH);
    first = false;
    return write(bytes);
  };
}

function writeCreationTime(bytes: Uint8Array, seconds: number): void {
  const view = viewOf(bytes);
  const moov = findBox(view, { kind: "file", start: 0, end: bytes.length }, "moov");
  if (!moov) return;
  const traks = listBoxes(view, moov.start, moov.end).filter(({ kind }) => kind === "trak");
  const headers = [
    findBox(view, moov, "mvhd"),
    ...traks.flatMap((trak) => [findBox(view, trak, "tkhd"), findBox(view, trak, "mdia", "mdhd")]),
  ];
  for (const header of headers) {
    // The first write may end inside the index.
    if (header && header.start + 20 <= bytes.length) writeTimes(view, header.start, seconds);
  }
}

// ISO/IEC 14496-12, 8.2.2 and 8.3.2: creation and modification times have 64 bits in version 1.
function writeTimes(view: DataView, at: number, seconds: number): void {
  const whole = BigInt(Math.max(0, Math.floor(seconds)));
  const wide = view.getUint8(at) === 1;
  for (const place of [0, 1]) {
    if (wide) view.setBigUint64(at + 4 + 8 * place, whole);
    else view.setUint32(at + 4 + 4 * place, whole > 0xffffffffn ? 0 : Number(whole));
  }
}

/**
 * Removes the unused part of the space that mediabunny (1.61) reserves for an MP4's or MOV's index, 25 bytes a packet, and adjusts the
 * offsets in the index. Writes the complete index at once.
 */
function dropReserve(write: (bytes: Uint8Array) => Promise<void>): (bytes: Uint8Array) => Promise<void> {
  let head: Uint8Array | null = new Uint8Array();
  let skipped = 0;
  return async (bytes) => {
    if (head) {
      head = head.length === 0 ? bytes : concatBytes([head, bytes]);
      const view = viewOf(head);
      const [moov, free] = findReserve(view);
      if (!moov || !free) return;
      const reserve = free.end - free.start + BOX_HEADER;
      moveOffsets(view, moov, -reserve);
      await write(head.subarray(0, moov.end));
      bytes = head.subarray(moov.end);
      head = null;
      skipped = reserve;
    }
    const rest = bytes.subarray(Math.min(skipped, bytes.length));
    skipped -= bytes.length - rest.length;
    if (rest.length > 0) await write(rest);
  };
}

const BOX_HEADER = 8;

/** Returns the index and the free space after it; undefined until their headers, and all of the index, are there. */
function findReserve(view: DataView): [moov?: Box, free?: Box] {
  let at = 0;
  let moov: Box | undefined;
  while (at + BOX_HEADER <= view.byteLength) {
    const box = { kind: kindAt(view, at), start: at + BOX_HEADER, end: at + view.getUint32(at) };
    if (moov)
      return box.kind === "free" ? [moov, box] : [moov, { kind: "free", start: at + BOX_HEADER, end: at }];
    if (box.kind === "moov") moov = box;
    at = box.end;
  }
  return [];
}

function kindAt(view: DataView, at: number): string {
  return String.fromCharCode(...Array.from({ length: 4 }, (_, letter) => view.getUint8(at + 4 + letter)));
}

// ISO/IEC 14496-12, 8.7.5: 32-bit or 64-bit chunk offsets from the start of the file.
function moveOffsets(view: DataView, moov: Box, by: number): void {
  for (const trak of listBoxes(view, moov.start, moov.end).filter(({ kind }) => kind === "trak")) {
    for (const [kind, bytes] of OFFSETS) {
      const table = findBox(view, trak, "mdia", "minf", "stbl", kind);
      const count = table ? view.getUint32(table.start + 4) : 0;
      for (let index = 0; table && index < count; index++) {
        const at = table.start + 8 + index * bytes;
        if (bytes === 4) view.setUint32(at, view.getUint32(at) + by);
        else view.setBigUint64(at, view.getBigUint64(at) + BigInt(by));
      }
    }
  }
}

const OFFSETS = [
  ["stco", 4],
  ["co64", 8],
] as const;

// RFC 9559, 5.1.8.1.1.2 and 4: TargetType "MOVIE", and a Void element of the same size.
const TARGET_TYPE = [0x63, 0xca, 0x85, 0x4d, 0x4f, 0x56, 0x49, 0x45];
const VOID = [0xec, 0x86, 0, 0, 0, 0, 0, 0];

/**
 * Blanks out the target type of the tags in a WebM by mediabunny (1.61): ffmpeg prefixes it to every tag, so that a title
 * would become `MOVIE/TITLE`. The headers, including the tags, must be in the first write.
 */
function hideTargetType(write: (bytes: Uint8Array) => Promise<void>): (bytes: Uint8Array) => Promise<void> {
  let first = true;
  return (bytes) => {
    if (first) {
      const at = bytes.findIndex((_, start) =>
        TARGET_TYPE.every((byte, index) => bytes[start + index] === byte),
      );
      if (at >= 0) bytes.set(VOID, at);
    }
    first = false;
    return write(bytes);
  };
}

interface Patch {
  position: number;
  data: Uint8Array;
}

/** The record of a first pass, with which the second writes the file without seeking back. */
export interface Rehearsal {
  /** Corrections of bytes already written, in order. */
  readonly patches: Patch[];
  size: number;
}

/** Records the writes of a muxer that seek back; complete when the stream closes. */
function createRehearsal(): { rehearsal: Rehearsal; writable: WritableStream<StreamTargetChunk> } {
  const rehearsal: Rehearsal = { patches: [], size: 0 };
  const writable = new WritableStream<StreamTargetChunk>({
    write({ data, position }) {
      const behind = Math.min(data.length, Math.max(0, rehearsal.size - position));
      if (behind > 0) rehearsal.patches.push({ position, data: data.slice(0, behind) });
      rehearsal.size = Math.max(rehearsal.size, position + data.length);
    },
  });
  return { rehearsal, writable };
}

/** Receives the same writes again and forwards their bytes in order, already corrected. */
function createReplay(
  { patches }: Rehearsal,
  write: (bytes: Uint8Array) => Promise<void>,
): WritableStream<StreamTargetChunk> {
  const order = patches.map((patch, sequence) => ({
    ...patch,
    sequence,
    end: patch.position + patch.data.length,
  }));
  order.sort((a, b) => a.position - b.position);
  let written = 0;
  let first = 0;

  function correct(bytes: Uint8Array): void {
    const end = written + bytes.length;
    while ((order[first]?.end ?? Number.POSITIVE_INFINITY) <= written) first++;
    let last = first;
    while ((order[last]?.position ?? Number.POSITIVE_INFINITY) < end) last++;
    for (const patch of order.slice(first, last).sort((a, b) => a.sequence - b.sequence)) {
      const from = Math.max(patch.position, written);
      const to = Math.min(patch.end, end);
      if (to > from) {
        bytes.set(patch.data.subarray(from - patch.position, to - patch.position), from - written);
      }
    }
  }

  return new WritableStream<StreamTargetChunk>({
    async write({ data, position }) {
      const fresh = data.slice(Math.min(data.length, Math.max(0, written - position)));
      if (fresh.length === 0) return;
      correct(fresh);
      written += fresh.length;
      await write(fresh);
    },
  });
}
