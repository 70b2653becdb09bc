// TargetType "MOVIE", and a Void of the same size (RFC 9559, 5.1.8.1.1.2 and 4).
const TARGET_TYPE = [0x63, 0xca, 0x85, 0x4d, 0x4f, 0x56, 0x49, 0x45];
const VOID = [0xec, 0x86, 0, 0, 0, 0, 0, 0];

/**
 * Blanks the name of the tags' target out of a WebM of mediabunny (1.61): ffmpeg puts it in front of every tag's name, so that a title
 * were a `MOVIE/TITLE`. The headers, with the tags, must be whole in the first bytes that are written.
 */
export function hideTargetType(
  write: (bytes: Uint8Array) => Promise<void>,
): (bytes: Uint8Array) => Promise<void> {
  let first = true;
  return (bytes) => {
    if (first) {
      const at = bytes.findIndex((_, start) =>
        TARGET_TYPE.every((byte, index) => bytes[start + index] === byte),
      );
      if (at >= 0) bytes.set(VOID, at);
    }
    first = false;
    return write(bytes);
  };
}
