import { findBox, listBoxes } from "../probe/mp4-boxes.ts";
import { viewOf } from "../util/bytes.ts";

// Bytes before the boxes of a sample description, and of a visual sample entry (ISO/IEC 14496-12, 8.5.2 and 12.1.3).
const DESCRIPTION = 8;
const VISUAL_ENTRY = 78;

/** Returns the codec string (RFC 6381) of an init segment with pictures in H.265 or AV1; null for any other. */
export function readCodecString(init: Uint8Array): string | null {
  const view = viewOf(init);
  const whole = { kind: "", start: 0, end: init.length };
  const stsd = findBox(view, whole, "moov", "trak", "mdia", "minf", "stbl", "stsd");
  const [entry] = stsd ? listBoxes(view, stsd.start + DESCRIPTION, stsd.end) : [];
  if (!entry) return null;
  const config = listBoxes(view, entry.start + VISUAL_ENTRY, entry.end).find(
    ({ kind }) => kind === "hvcC" || kind === "av1C",
  );
  const record = config && init.subarray(config.start, config.end);
  if (!record) return null;
  return config.kind === "hvcC" ? hevcString(entry.kind, record) : av1String(record);
}

// ISO/IEC 14496-15, annex E.3: profile, compatibility flags from the lowest bit, tier and level, and constraints without trailing zeros.
function hevcString(kind: string, record: Uint8Array): string {
  const view = viewOf(record);
  const profile = view.getUint8(1);
  const space = ["", "A", "B", "C"][profile >> 6];
  const flags = view.getUint32(2).toString(2).padStart(32, "0");
  const compatible = Number.parseInt([...flags].reverse().join(""), 2)
    .toString(16)
    .toUpperCase();
  const tier = (profile & 0x20) === 0 ? "L" : "H";
  const constraints = [...record.subarray(6, 12)];
  const used = constraints.slice(0, constraints.findLastIndex((byte) => byte !== 0) + 1);
  const parts = used.map((byte) => byte.toString(16).toUpperCase());
  return [kind, `${space}${profile & 0x1f}`, compatible, `${tier}${view.getUint8(12)}`, ...parts].join(".");
}

// AV1 Codec ISO Media File Format Binding, section 5: profile, level and tier, and depth.
function av1String(record: Uint8Array): string {
  const [, levels = 0, flags = 0] = record;
  const level = String(levels & 0x1f).padStart(2, "0");
  const tier = flags & 0x80 ? "H" : "M";
  const depth = flags & 0x40 ? (flags & 0x20 ? 12 : 10) : 8;
  return `av01.${levels >> 5}.${level}${tier}.${String(depth).padStart(2, "0")}`;
}
