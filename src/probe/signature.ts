import { ADTS, FLAC, type InputFormat, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from "mediabunny";

// A QuickTime file may start without ftyp, with any of these boxes.
const BOXES: ReadonlySet<string> = new Set(["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot"]);
// How the first packet of an Ogg stream starts if mediabunny reads it.
const OGG_HEADS = ["OpusHead", "\u0001vorbis"];

// ISO/IEC 11172-3, 2.4.2.3: layer III, and none in ADTS. mediabunny takes layers I and II for III.
const LAYERS: ReadonlySet<number> = new Set([2, 0]);

/**
 * Returns which of mediabunny's formats a file may have, from its first bytes; none to leave it to ffprobe. Only a signature
 * at the very start counts: MP3 frames also appear inside other files.
 */
export function formatsOf(head: Uint8Array): InputFormat[] {
  const at = (start: number, end: number) => String.fromCharCode(...head.subarray(start, end));
  if (BOXES.has(at(4, 8))) return [MP4, QTFF];
  if (at(0, 4) === "\u001aE\u00df\u00a3") return [MATROSKA, WEBM];
  if (/^(RIFF|RIFX|RF64)$/.test(at(0, 4)) && at(8, 12) === "WAVE") return [WAVE];
  if (at(0, 4) === "fLaC") return [FLAC];
  if (at(0, 4) === "OggS") return isPlainOgg(head) ? [OGG] : [];
  if (at(0, 3) === "ID3") return [FLAC, MP3, ADTS];
  const second = head[1] ?? 0;
  return head[0] === 0xff && (second & 0xe0) === 0xe0 && LAYERS.has(second & 6) ? [MP3, ADTS] : [];
}

// An Ogg file's first pages open its streams one by one (RFC 3533); mediabunny would skip unknown ones.
function isPlainOgg(head: Uint8Array): boolean {
  for (let at = 0; at + 27 < head.length; ) {
    const opens = ((head[at + 5] ?? 0) & 2) !== 0;
    if (String.fromCharCode(...head.subarray(at, at + 4)) !== "OggS" || !opens) break;
    const segments = head[at + 26] ?? 0;
    const body = at + 27 + segments;
    const first = String.fromCharCode(...head.subarray(body, body + 8));
    if (!OGG_HEADS.some((known) => first.startsWith(known))) return false;
    at = body + head.subarray(at + 27, body).reduce((sum, size) => sum + size, 0);
  }
  return true;
}
