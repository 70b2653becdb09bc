import {
  FONT_LIST,
  type FontFile,
  parseFontList,
  type ScriptFonts,
} from "../../src/subtitles/script-fonts.ts";
import type { Env } from "../env.ts";
import * as errors from "../errors.ts";

/** Returns the fonts among the Worker's static files. */
export function createScriptFonts({ ASSETS }: Pick<Env, "ASSETS">): ScriptFonts {
  async function read(name: string): Promise<Uint8Array> {
    const response = await ASSETS.fetch(`https://assets.invalid/fonts/${name}`);
    if (!response.ok) {
      await response.body?.cancel();
      throw errors.scriptFontMissing({ name, status: response.status });
    }
    return new Uint8Array(await response.arrayBuffer());
  }
  return {
    list: async () => parseFontList(await read(FONT_LIST)),
    async load({ name, size }: FontFile) {
      const bytes = await read(name);
      if (bytes.length !== size) throw errors.fontDiffers();
      return bytes;
    },
  };
}
