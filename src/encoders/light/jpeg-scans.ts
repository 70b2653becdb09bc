import type { RefusalReason } from "../../core/refusal.ts";
import type { Source } from "../../core/source.ts";
import { MIB, viewOf } from "../../util/bytes.ts";
import { LIGHT_COST } from "./light-cost.ts";
import { LIGHT_MEMORY } from "./light-limits.ts";

/**
 * Returns why a progressive JPEG exceeds the light encoder's memory; null where it fits. Its decoder keeps a number of two bytes for each
 * sample until the last scan, however much the picture is shrunk.
 */
export function refuseScans(jpeg: Uint8Array, source: Source): RefusalReason | null {
  if (source.format !== "jpeg" || !isProgressive(viewOf(jpeg))) return null;
  const { coded_width = 0, coded_height = 0, pixel_format = "" } = source;
  const samples = coded_width * coded_height * (SAMPLES[pixel_format] ?? 3);
  const needed_bytes = Math.ceil(LIGHT_COST.heap.base * MIB + jpeg.length + 2 * samples);
  if (needed_bytes <= LIGHT_MEMORY) return null;
  return { code: "memory", needed_bytes, available_bytes: LIGHT_MEMORY };
}

// Per pixel.
const SAMPLES: Readonly<Record<string, number>> = {
  ...{ yuvj420p: 1.5, yuvj422p: 2, gray: 1 },
  // CMYK and YCCK.
  ...{ gbrap: 4, yuva444p: 4, yuva420p: 2.5 },
};

// ITU-T T.81, B.1.1.2 and B.1.1.3: fill bytes may precede a marker, and that of the frame comes before that of the first scan.
function isProgressive(view: DataView): boolean {
  for (let at = 2; at + 4 <= view.byteLength; ) {
    const marker = view.getUint16(at);
    if (marker === 0xffc2) return true;
    if (marker < 0xffc0 || marker === 0xffda) return false;
    at += marker === 0xffff ? 1 : 2 + view.getUint16(at + 2);
  }
  return false;
}
