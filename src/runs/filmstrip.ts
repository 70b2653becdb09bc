/** One of several evenly spaced pictures of a video. */
export interface FilmstripPicture {
  /** The time at which a viewer sees the picture, in seconds of the source. */
  at: number;
  /** The picture, a JPEG. */
  blob: Blob;
  /** Width in pixels. */
  width: number;
  /** Height in pixels. */
  height: number;
}
