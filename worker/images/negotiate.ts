import { WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { ImageFormat } from "../../src/media/formats.ts";

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
