import type { RefusalReason } from "../../core/refusal.ts";
import type { Source } from "../../core/source.ts";
import { containerOf } from "../../media/containers.ts";

export interface Decoders {
  /** Queries the browser's support for a source, once per codec; never rejects. */
  prepare(source: Source): Promise<void>;
  /** Returns why the source cannot be read and decoded; null when it can. */
  refuse(source: Source): RefusalReason | null;
}

// The highest level of each codec, so that no size is ruled out.
const STRINGS: Readonly<Record<string, (deep: boolean, full: boolean) => string>> = {
  h264: (deep, full) => (full ? "avc1.f40034" : deep ? "avc1.6e0034" : "avc1.640034"),
  h265: (deep, full) => (full ? "hvc1.4.10.L153.B0" : deep ? "hvc1.2.4.L153.B0" : "hvc1.1.6.L153.B0"),
  vp8: () => "vp8",
  vp9: (deep, full) => `vp09.0${(deep ? 2 : 0) + (full ? 1 : 0)}.51.${deep ? "10" : "08"}`,
  av1: (deep, full) => `av01.${full ? 1 : 0}.13M.${deep ? "10" : "08"}`,
};

/** Creates a cache of the browser's answers about decoders. */
export function createDecoders(): Decoders {
  const asked = new Map<string, Promise<boolean>>();
  const known = new Map<string, boolean>();
  return {
    async prepare(source) {
      const codec = codecString(source);
      if (codec === null) return;
      const answer = asked.get(codec) ?? canDecode(codec);
      asked.set(codec, answer);
      known.set(codec, await answer);
    },
    refuse(source) {
      if (containerOf(source).entries === null) return { code: "input_format", format: source.format };
      const codec = codecString(source);
      if (codec !== null && known.get(codec)) return null;
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
