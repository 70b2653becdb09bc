/** One of several evenly spaced pictures of a video. */
export interface FilmstripPicture {
  /** The time of the picture in seconds of the source; a viewer sees it at that time. */
  at: number;
  /** The picture, a JPEG. */
  blob: Blob;
  /** Width in pixels. */
  width: number;
  /** Height in pixels. */
  height: number;
}
