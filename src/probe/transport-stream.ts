import type { ByteReader } from "../runs/ports.ts";
import * as errors from "./errors.ts";

const SYNC = 0x47;
const PACKET = 188;
// M2TS puts four bytes before each packet.
const SIZES = [PACKET, PACKET + 4] as const;
// Packets in a row that prove the layout.
const ROW = 4;
const TAIL = 262_144;
const SHARE = 4;

/**
 * Checks that the main stream of an MPEG transport stream (ISO/IEC 13818-1, 2.4.3) still plays at its end. ffmpeg reads what is joined
 * from recordings with other packet identifiers as further streams, so that an output would lack them.
 *
 * @param report ffprobe's report on the file.
 * @throws `input_unsupported` when other streams have taken over.
 */
export async function checkStreamsLast(
  report: unknown,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<void> {
  const { format, streams = [] } = report as FfprobeReport;
  if (format?.format_name !== "mpegts") return;
  const idsOf = (kind: string) =>
    streams.filter(({ codec_type }) => codec_type === kind).map(({ id }) => Number(id));
  const [pictures, sounds] = [idsOf("video"), idsOf("audio")];
  // Among several programs at once, one with little sound may have none at the end.
  const [first, ...others] = pictures.length > 1 ? pictures : sounds;
  if (!first || others.length === 0) return;
  const length = Math.min(TAIL, Math.floor(reader.size / SHARE));
  const tail = await reader.read({ start: reader.size - length, end: reader.size }, signal);
  const last = packetIds(tail);
  if (!last.has(first) && others.some((id) => last.has(id))) throw errors.streamsTakenOver();
}

interface FfprobeReport {
  format?: { format_name?: string };
  streams?: readonly { codec_type?: string; id?: string }[];
}

function packetIds(bytes: Uint8Array): ReadonlySet<number> {
  const ids = new Set<number>();
  for (const size of SIZES) {
    const start = bytes.findIndex((_, at) => isPacketRow(bytes, at, size));
    if (start < 0) continue;
    for (let at = start; bytes[at] === SYNC; at += size) {
      ids.add((((bytes[at + 1] ?? 0) & 0x1f) << 8) | (bytes[at + 2] ?? 0));
    }
    return ids;
  }
  return ids;
}

function isPacketRow(bytes: Uint8Array, at: number, size: number): boolean {
  return Array.from({ length: ROW }, (_, index) => bytes[at + index * size]).every((byte) => byte === SYNC);
}
