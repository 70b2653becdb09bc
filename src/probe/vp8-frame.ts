/** Whether a packet of VP8 holds a picture that is shown (RFC 6386, 9.1: show_frame); a hidden one is a reference for others. */
export function isShown(packet: Uint8Array): boolean {
  return (((packet[0] ?? 0) >> 4) & 1) === 1;
}
