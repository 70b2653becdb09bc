/** What a viewer would see or hear of an output, and the original beside it. */
export interface Preview {
  /** The original: for pictures a JPEG of the output's shape and size, or a PNG where that is transparent, for sound a WAV of the same seconds. */
  original: Blob;
  /** The output: for an image the file itself, for video a JPEG of its frame, for sound a file of a few seconds. */
  output: Blob;
  /** Bytes of the output: of an image the whole file, of video the pictures that were encoded, of sound its part; 0 where the pictures are copied. */
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
