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
