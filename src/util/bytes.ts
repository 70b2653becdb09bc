export const KIB = 2 ** 10;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

/** Returns the bytes of a buffer or a view, without copying them. */
export function bytesOf(source: ArrayBufferLike | ArrayBufferView): Uint8Array {
  if (!ArrayBuffer.isView(source)) return new Uint8Array(source);
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

/** Returns what `read` returns, or another value when it reads beyond the end of a view. */
export function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof RangeError) return otherwise;
    throw thrown;
  }
}

/** Decodes bytes of a view as Latin-1. Throws a RangeError when the view ends too early. */
export function latinText(view: DataView, offset: number, length: number): string {
  let letters = "";
  for (let at = offset; at < offset + length; at++) letters += String.fromCharCode(view.getUint8(at));
  return letters;
}

/** Returns a view of exactly the bytes of an array, which may cover only part of its buffer. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

/** Returns whether two arrays have the same bytes. */
export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** Reads an integer of 28 bits, seven in each of four bytes, big-endian. */
export function sevenBits(bytes: Uint8Array, at: number): number {
  return bytes.subarray(at, at + 4).reduce((value, byte) => value * 128 + (byte & 0x7f), 0);
}

/** Reads an unsigned integer of 24 bits, little-endian. */
export function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

/**
 * Formats bytes as hexadecimal digits. `Uint8Array.prototype.toHex` is missing in Node 24 and in the oldest supported
 * browsers.
 */
export function toHex(bytes: Iterable<number>): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns the SHA-256 of bytes as hexadecimal digits. */
export async function sha256Hex(bytes: BufferSource): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

// Bytes per call, a multiple of three so that only the last piece is padded.
const PIECE = 24_573;

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  return text;
}

/** Encodes bytes as base64url without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Decodes base64url without padding; throws a DOMException for anything else. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const PACKED_PIECE = 4 * KIB;

/** Expands zlib data; null for damaged data, and for more than `maxBytes`, because a small file may expand to any size. */
export async function inflate(data: Uint8Array, maxBytes: number): Promise<Uint8Array | null> {
  let at = 0;
  // A browser expands a whole piece at once, to up to 1032 times its size.
  const pieces = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        if (at < data.length) controller.enqueue(data.slice(at, at + PACKED_PIECE));
        else controller.close();
        at += PACKED_PIECE;
      },
    },
    { highWaterMark: 0 },
  );
  const stream = pieces.pipeThrough(new DecompressionStream("deflate"));
  const reader = stream.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      size += value?.length ?? 0;
      if (!value || size > maxBytes) return null;
      parts.push(value);
    }
    return concatBytes(parts);
  } catch {
    return null;
  } finally {
    reader.cancel().catch(() => {});
  }
}
