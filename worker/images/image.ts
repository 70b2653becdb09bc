import { WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { ImageFormat } from "../../src/media/formats.ts";
import type { ImageUrlOptions } from "../../src/media/image-url.ts";

/** Where a picture comes from, and who pays for it. */
export interface ImagePlace {
  /** URL, or the key of an output. */
  source: string;
  project: string;
  /** Origins that the source, and each place it redirects to, must be on; null for any public host. */
  origins: readonly string[] | null;
}

/** A picture to make: its options, and the format that stands for `auto`, null for jpeg or png. */
export interface ImageJob {
  options: ImageUrlOptions;
  auto: ImageFormat | null;
}

/** A picture of an image URL, as it is stored. */
export interface ImageEntry {
  /** Key of its bytes. */
  key: string;
  /** Hash of its bytes. */
  etag: string;
  mime: string;
  size: number;
  /** The version of the source that it was made of; null where the source has none. */
  validator: string | null;
  /** Until when it is served without asking the source again, in milliseconds. */
  fresh_until: number;
}

/** How a picture was come by: stored and fresh, stored and still that of the source, made, or made for a request at the same time. */
export type ImageFound = "hit" | "revalidated" | "stored" | "collapsed";

/** A picture found or made. */
export interface FoundImage {
  entry: ImageEntry;
  found: ImageFound;
  /** Returns its bytes. */
  body(): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>>;
}

/** Finds or makes the pictures of image URLs; rejects with a `MediaError`. */
export type Images = (place: ImagePlace, job: ImageJob) => Promise<FoundImage>;

// Smallest files first. A browser that names none of them gets what every one shows.
const MODERN = ["avif", "webp"] as const satisfies readonly ImageFormat[];

/** Returns the best format for `auto` that the light encoder writes and an Accept header names; null for jpeg or png. Wildcards name none. */
export function negotiate(accept: string | undefined): (typeof MODERN)[number] | null {
  const named = (accept ?? "").split(",").map((range) => range.split(";").map((part) => part.trim()));
  const accepts = (format: string) =>
    named.some(([type, ...rest]) => {
      return type?.toLowerCase() === `image/${format}` && !rest.some((part) => /^q=0(\.0*)?$/i.test(part));
    });
  return MODERN.find((format) => WASM_TOOLS.image[format] && accepts(format)) ?? null;
}
