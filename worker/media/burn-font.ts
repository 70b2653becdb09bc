import packed from "../../dist/core/dejavu-sans.bin";
import { BURN_FONT } from "../../src/media/features/subtitles.ts";
import * as errors from "../errors.ts";

/** Returns the font of burnt-in subtitles, which is bundled gzipped. */
export async function loadBurnFont(): Promise<Uint8Array> {
  const plain = new Response(packed).body?.pipeThrough(new DecompressionStream("gzip"));
  const font = new Uint8Array(await new Response(plain).arrayBuffer());
  if (font.length !== BURN_FONT.size) throw errors.fontDiffers();
  return font;
}
