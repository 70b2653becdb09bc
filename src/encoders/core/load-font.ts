import { BURN_FONT } from "../../media/features/subtitles.ts";
import { CORE_CACHE, type LoadOptions, STALL_SECONDS } from "./core-load.ts";
import { loadFile } from "./core-load-file.ts";

/** Where to load the font of burnt-in subtitles from. */
export interface FontLoadOptions extends Pick<LoadOptions, "cache"> {
  /**
   * URL of `dejavu-sans.bin`, gzipped, or of `DejaVuSans.ttf`.
   *
   * @default the file that ships with this package
   */
  font?: string | URL | undefined;
}

/** Loads the font of burnt-in subtitles, from the cache or the network; rejects with `encoder_unavailable`. */
export function loadFont({ font, cache = CORE_CACHE }: FontLoadOptions = {}): Promise<Uint8Array> {
  return loadFile({
    url: font ?? new URL("../../../dist/core/dejavu-sans.bin", import.meta.url),
    name: "font of subtitles",
    ...{ file: BURN_FONT, cache, stallSeconds: STALL_SECONDS },
    signal: new AbortController().signal,
    onBytes() {},
  });
}
