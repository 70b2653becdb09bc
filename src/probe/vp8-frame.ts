/** Returns whether a VP8 packet holds a picture to be shown (RFC 6386, 9.1: show_frame); a hidden one is only a reference. */
export function isShown(packet: Uint8Array): boolean {
  return (((packet[0] ?? 0) >> 4) & 1) === 1;
}
