/** What a viewer would see or hear of an output, and the original beside it. */
export interface Preview {
  /** The original: for pictures a PNG of the output's shape and size, for sound a WAV of the same seconds. */
  original: Blob;
  /** The output: for an image the file itself, for video a PNG of its frame, for sound a file of a few seconds. */
  output: Blob;
  /** Bytes of the output: of an image the whole file, otherwise of the part that was encoded; 0 where the pictures are copied. */
  bytes: number;
  /** Seconds of media in those bytes; null for a picture. */
  seconds: number | null;
  /** The moment shown in seconds of the source, for sound the first one; null for an image of a picture. */
  at: number | null;
  /** Width in pixels; null for sound. */
  width: number | null;
  /** Height in pixels; null for sound. */
  height: number | null;
}
