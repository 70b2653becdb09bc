// TargetType "MOVIE", and a Void element of the same size (RFC 9559, 5.1.8.1.1.2 and 4).
const TARGET_TYPE = [0x63, 0xca, 0x85, 0x4d, 0x4f, 0x56, 0x49, 0x45];
const VOID = [0xec, 0x86, 0, 0, 0, 0, 0, 0];

/**
 * Blanks out the target type of the tags in a WebM by mediabunny (1.61): ffmpeg prefixes it to every tag, so that a title
 * would become `MOVIE/TITLE`. The headers, including the tags, must be in the first write.
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
