import { WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { ImageFormat } from "../../src/media/formats.ts";
import type { ImageUrlOptions } from "../../src/media/image-url.ts";
import type { Dropped } from "../../src/media/source.ts";

/** The source of a picture, and the project that it counts for. */
export interface ImageOrigin {
  /** URL, or the key of an output. */
  source: string;
  project: string;
  /** Allowed origins of the source and of its redirects; null for any public host. */
  origins: readonly string[] | null;
}

/** A picture to encode: its options and the negotiated format of `auto`, null for GIF, JPEG or PNG. */
export interface ImageJob {
  options: ImageUrlOptions;
  auto: ImageFormat | null;
}

/** The stored picture of an image URL. */
export interface ImageEntry {
  /** Key of its bytes. */
  key: string;
  /** Hash of its bytes. */
  etag: string;
  mime: string;
  size: number;
  /** The version of its source, an ETag or a date; null when the source states none. */
  validator: string | null;
  /** The parts of the source that the picture lacks, as a list of RFC 9651; absent when nothing is lost. */
  dropped?: string;
  /** Time until which it is served without revalidation, in milliseconds since the epoch. */
  fresh_until: number;
}

/** The cache status of a picture: fresh in storage, revalidated with its source, newly encoded, or shared with a concurrent request. */
export type ImageOutcome = "hit" | "revalidated" | "stored" | "collapsed";

/** A picture with its cache status. */
export interface ImageResult {
  entry: ImageEntry;
  outcome: ImageOutcome;
  /** Returns its bytes. */
  body(): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>>;
}

/** Returns the picture of an image URL, from storage or newly encoded; rejects with a `MediaError`. */
export type Images = (place: ImageOrigin, job: ImageJob) => Promise<ImageResult>;

/** Returns the text of the header that lists what a picture lacks (RFC 9651), such as `gain_map;reason=not_supported`. */
export function droppedText(dropped: readonly Dropped[]): string {
  return dropped.map(({ kind, reason }) => `${kind};reason=${reason}`).join(", ");
}

// The order prefers the smallest files.
const MODERN = ["avif", "webp"] as const satisfies readonly ImageFormat[];

/** Returns the best format for `auto` that the light encoder writes and an Accept header names; null for none. Ignores wildcards. */
export function negotiate(accept: string | undefined): (typeof MODERN)[number] | null {
  const ranges = (accept ?? "").split(",").map((range) => range.split(";").map((part) => part.trim()));
  const accepts = (format: string) =>
    ranges.some(([type, ...rest]) => {
      return type?.toLowerCase() === `image/${format}` && !rest.some((part) => /^q=0(\.0*)?$/i.test(part));
    });
  return MODERN.find((format) => WASM_TOOLS.image[format] && accepts(format)) ?? null;
}
