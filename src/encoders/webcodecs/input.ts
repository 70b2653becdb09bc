import { ALL_FORMATS, BlobSource, CustomSource, Input, type InputVideoTrack } from "mediabunny";
import { containerOf } from "../../media/containers.ts";
import { MediaError } from "../../media/errors.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import { repairMatroska } from "../../probe/matroska.ts";
import { listsTracks, pictureTrack, startTime } from "../../probe/mediabunny.ts";
import type { ByteReader } from "../../runs/ports.ts";
import * as errors from "../errors.ts";

export interface OpenPictures {
  track: InputVideoTrack;
  /** Presentation start of the source, in seconds on the track's clock. */
  origin: number;
}

/**
 * Opens a source of a format in mediabunny: the reader's Blob if it has one, otherwise by ranges. Disposing of the input ends all reading.
 */
export async function openInput(
  input: ByteReader,
  { format }: Pick<Source, "format">,
  signal: AbortSignal,
): Promise<Input> {
  const reader = await repairMatroska(input, format, signal);
  const { blob } = reader as Partial<{ blob: unknown }>;
  const handleUnhandledError = () => {};
  const source =
    blob instanceof Blob
      ? new BlobSource(blob, { handleUnhandledError })
      : new CustomSource({
          getSize: () => reader.size,
          read: (start, end) => reader.read({ start, end }, signal),
          prefetchProfile: "network",
          handleUnhandledError,
        });
  return new Input({ source, formats: ALL_FORMATS });
}

/**
 * Opens the pictures of a source. Rejects with `input_no_video` or `input_unsupported` when it has none that this browser can decode.
 */
export async function openPicturesOf(input: Input, source: Source): Promise<OpenPictures> {
  const track = await pictureTrack(input, source);
  if (!track) throw errors.noPictures();
  if (!(await track.canDecode())) throw errors.codecUnsupported();
  return { track, origin: await startTime(input) };
}

/** Rejects as the reader does when the source is no longer readable; the browser's own read errors lack the reason. */
export async function checkReadable(reader: ByteReader): Promise<void> {
  try {
    await reader.read({ start: 0, end: 1 });
  } catch (thrown) {
    if (thrown instanceof MediaError) throw thrown;
  }
}

export interface Decoders {
  /** Queries the browser's support for a source, once per codec; never rejects. */
  prepare(source: Source): Promise<void>;
  /** Returns the reason why the source cannot be read or decoded; null when it can. */
  refuse(source: Source): RefusalReason | null;
}

// The highest level of each codec, so that any size is supported.
const STRINGS: Readonly<Record<string, (deep: boolean, full: boolean) => string>> = {
  h264: (deep, full) => (full ? "avc1.f40034" : deep ? "avc1.6e0034" : "avc1.640034"),
  h265: (deep, full) => (full ? "hvc1.4.10.L153.B0" : deep ? "hvc1.2.4.L153.B0" : "hvc1.1.6.L153.B0"),
  vp8: () => "vp8",
  vp9: (deep, full) => `vp09.0${(deep ? 2 : 0) + (full ? 1 : 0)}.51.${deep ? "10" : "08"}`,
  av1: (deep, full) => `av01.${full ? 1 : 0}.13M.${deep ? "10" : "08"}`,
};

/** Creates a cache of the browser's answers about decoders. */
export function createDecoders(): Decoders {
  const queries = new Map<string, Promise<boolean>>();
  const results = new Map<string, boolean>();
  return {
    async prepare(source) {
      const codec = codecString(source);
      if (codec === null) return;
      const answer = queries.get(codec) ?? canDecode(codec);
      queries.set(codec, answer);
      results.set(codec, await answer);
    },
    refuse(source) {
      if (containerOf(source).entries === null || !listsTracks(source))
        return { code: "input_format", format: source.format };
      const codec = codecString(source);
      if (codec !== null && results.get(codec)) return null;
      return { code: "input_codec", codec: source.codecs?.video ?? "unknown" };
    },
  };
}

function codecString({ codecs, pixel_format = "" }: Source): string | null {
  const deep = /1[02](le|be)$/.test(pixel_format);
  const full = /^(yuvj?444|yuvj?422|gbr)/.test(pixel_format);
  return STRINGS[codecs?.video ?? ""]?.(deep, full) ?? null;
}

async function canDecode(codec: string): Promise<boolean> {
  if (typeof VideoDecoder === "undefined") return false;
  const { supported } = await VideoDecoder.isConfigSupported({ codec }).catch(() => ({ supported: false }));
  return supported === true;
}
