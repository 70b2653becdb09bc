import { type Box, findBox } from "../../probe/mp4-boxes.ts";
import type { Mp4Track } from "./mp4-part.ts";

/** The samples of a track, in decoding order. */
export interface Mp4Samples {
  /** In bytes. */
  sizes: Uint32Array;
  /** Decoding time of each in ticks from 0, and the end of the last. */
  decoded: Float64Array;
  end: number;
  /** Ticks from decoding to presentation of each; null when they coincide. */
  offsets: Int32Array | null;
  /** 1 for each sync sample; null when all are. */
  sync: Uint8Array | null;
  /** Start and end of each stretch of the file that holds their bytes, in order. */
  extents: [start: number, end: number][];
}

/** Expands a track's sample tables (ISO/IEC 14496-12, 8.6 and 8.7); null when they are inconsistent. */
export function readSamples(track: Mp4Track): Mp4Samples | null {
  const { moov, stbl, packets } = track;
  const [stsz, stts, ctts, stss] = ["stsz", "stts", "ctts", "stss"].map((kind) => findBox(moov, stbl, kind));
  const sizes = stsz && readSizes(moov, stsz, packets);
  if (!sizes || !stts) return null;
  const extents = readExtents(track, sizes);
  if (!extents) return null;
  const decoded = new Float64Array(packets);
  let end = 0;
  forRuns(moov, stts, packets, (sample, value) => {
    decoded[sample] = end;
    end += value;
  });
  const offsets = ctts ? new Int32Array(packets) : null;
  if (ctts && offsets) {
    forRuns(moov, ctts, packets, (sample, value) => {
      offsets[sample] = value;
    });
  }
  return { sizes, decoded, end, offsets, sync: stss ? readSync(moov, stss, packets) : null, extents };
}

function readSizes(view: DataView, { start, end }: Box, packets: number): Uint32Array | null {
  const shared = view.getUint32(start + 4);
  if (shared > 0) return new Uint32Array(packets).fill(shared);
  if (start + 12 + packets * 4 > end) return null;
  const sizes = new Uint32Array(packets);
  for (let sample = 0; sample < packets; sample++) sizes[sample] = view.getUint32(start + 12 + sample * 4);
  return sizes;
}

// Values are signed: writers store negative ones even in the version that has none.
function forRuns(view: DataView, box: Box, packets: number, each: (sample: number, value: number) => void) {
  let sample = 0;
  for (let at = box.start + 8; at + 8 <= box.end; at += 8) {
    const last = Math.min(packets, sample + view.getUint32(at));
    const value = view.getInt32(at + 4);
    for (; sample < last; sample++) each(sample, value);
  }
}

function readSync(view: DataView, { start, end }: Box, packets: number): Uint8Array {
  const sync = new Uint8Array(packets);
  for (let at = start + 8; at + 4 <= end; at += 4) {
    const sample = view.getUint32(at) - 1;
    if (sample < packets) sync[sample] = 1;
  }
  return sync;
}

function readExtents({ moov, stbl, input }: Mp4Track, sizes: Uint32Array): [number, number][] | null {
  const stsc = findBox(moov, stbl, "stsc");
  const wide = findBox(moov, stbl, "co64");
  const places = wide ?? findBox(moov, stbl, "stco");
  if (!stsc || !places) return null;
  const each = wide ? 8 : 4;
  const extents: [number, number][] = [];
  let [sample, entry, run] = [0, stsc.start + 8, 0];
  for (let chunk = 1, at = places.start + 8; at + each <= places.end; chunk++, at += each) {
    for (; entry + 12 <= stsc.end && moov.getUint32(entry) <= chunk; entry += 12) {
      run = moov.getUint32(entry + 4);
      if (moov.getUint32(entry + 8) !== 1) return null;
    }
    const start = wide ? Number(moov.getBigUint64(at)) : moov.getUint32(at);
    let end = start;
    for (const last = Math.min(sizes.length, sample + run); sample < last; sample++)
      end += sizes[sample] ?? 0;
    if (end > input.size) return null;
    const before = extents[extents.length - 1];
    if (before?.[1] === start) before[1] = end;
    else if (end > start) extents.push([start, end]);
  }
  return sample === sizes.length ? extents : null;
}
