import { MIB } from "../util/bytes.ts";

/** Consecutive pieces of bytes. */
export type Bytes = readonly Uint8Array[];

export function lengthOf(bytes: Bytes): number {
  return bytes.reduce((sum, { length }) => sum + length, 0);
}

/** Wraps content in a box of an ISO base media file (ISO/IEC 14496-12, 4.2). */
export function box(kind: string, ...content: readonly Bytes[]): Bytes {
  const inside = content.flat();
  const header = u32(lengthOf(inside) + 8, 0);
  header.set(letters(kind), 4);
  return [header, ...inside];
}

export function fullBox(kind: string, version: number, flags: number, ...content: readonly Bytes[]): Bytes {
  return box(kind, [u32(version * 2 ** 24 + flags)], ...content);
}

/** Writes 32-bit numbers; negative ones as two's complement. */
export function u32(...values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4));
  for (const [index, value] of values.entries()) view.setUint32(index * 4, value);
  return new Uint8Array(view.buffer);
}

export function u16(...values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 2));
  for (const [index, value] of values.entries()) view.setUint16(index * 2, value);
  return new Uint8Array(view.buffer);
}

/** Writes 64-bit numbers, exact for safe integers. */
export function u64(...values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 8));
  for (const [index, value] of values.entries()) view.setBigInt64(index * 8, BigInt(value));
  return new Uint8Array(view.buffer);
}

/** The largest 32-bit number; boxes have wide forms for larger sizes and offsets. */
export const MAX_UINT32 = 0xffffffff;

/** The identity matrix of a track or movie. */
export const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

/** Writes an hdlr box; a MOV also stores the component type, and the name with a length. */
export function handlerBox(quicktime: boolean, component: string, kind: string, name: Uint8Array): Bytes {
  const text = quicktime ? [Uint8Array.of(name.length), name] : [name, Uint8Array.of(0)];
  const type = quicktime ? letters(component) : u32(0);
  return fullBox("hdlr", 0, 0, [type, letters(kind), u32(0, 0, 0), ...text]);
}

/** Encodes a text in UTF-8, cut between characters to at most `maxBytes` bytes. */
export function cutText(text: string, maxBytes: number): Uint8Array {
  const bytes = new Uint8Array(maxBytes);
  return bytes.subarray(0, new TextEncoder().encodeInto(text, bytes).written);
}

export function letters(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

const OUT_BYTES = MIB;

/** Collects pieces of any size into large writes. */
export interface Gatherer {
  add(bytes: Uint8Array): Promise<void>;
  flush(): Promise<void>;
}

export function createGatherer(write: (bytes: Uint8Array) => Promise<void>): Gatherer {
  let buffer = new Uint8Array(OUT_BYTES);
  let length = 0;
  const flush = async () => {
    const full = buffer.subarray(0, length);
    if (length === 0) return;
    buffer = new Uint8Array(OUT_BYTES);
    length = 0;
    await write(full);
  };
  return {
    async add(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const piece = bytes.subarray(at, at + OUT_BYTES - length);
        buffer.set(piece, length);
        length += piece.length;
        at += piece.length;
        if (length === OUT_BYTES) await flush();
      }
    },
    flush,
  };
}
