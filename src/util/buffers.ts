/** Returns the bytes of a buffer or a view, without copying them. */
export function bytesOf(source: ArrayBufferLike | ArrayBufferView): Uint8Array {
  if (!ArrayBuffer.isView(source)) return new Uint8Array(source);
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

/** Returns a view of an array's own bytes, at their offset in its buffer. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
