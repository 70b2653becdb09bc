import { z } from "zod";

/** A moment of an output, and of the original for comparison. */
export interface Preview {
  /** The original: a JPEG of the output's size, or a PNG when the output is transparent; for sound a WAV of the same seconds. */
  original: Blob;
  /** The output: for an image the complete file, for video a JPEG of the frame, for sound a file of a few seconds. */
  output: Blob;
  /** Bytes that were encoded: the file of an image, the pictures of a video, or the sound shown; 0 when pictures are copied. */
  bytes: number;
  /** Seconds of media in those bytes; null for a picture. */
  seconds: number | null;
  /** The moment shown, in seconds of the source; for sound, its start. Null when the source is a still image. */
  at: number | null;
  /** Width in pixels; null for sound. */
  width: number | null;
  /** Height in pixels; null for sound. */
  height: number | null;
}

/** The visible part of an output's picture. */
export interface PreviewView {
  /** The left edge, in pixels of the output. */
  x: number;
  /** The top edge. */
  y: number;
  /** Width in pixels of the output. */
  width: number;
  /** Height in pixels of the output. */
  height: number;
  /**
   * Device pixels per pixel of the output; above 0, at most 1.
   *
   * @default 1
   */
  scale?: number;
}

/** The visible part of an output, at the size of the screen, and that of the original. */
export interface PreviewPart extends Pick<Preview, "original" | "output" | "at"> {
  /** Width in pixels. */
  width: number;
  /** Height in pixels. */
  height: number;
}

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

const dataUrl = z.string().regex(/^data:/);
const pixels = z.int().min(1).nullable();

/** A preview as a service returns it: its files are `data:` URLs. */
export const PreviewResponse = z
  .object({
    original: dataUrl.meta({
      description:
        "The original as a `data:` URL: a JPEG of the output's size, or a PNG when the output is transparent; for sound a WAV of the same seconds.",
    }),
    output: dataUrl.meta({
      description:
        "The output as a `data:` URL: for an image the complete file, for video a JPEG of the frame, for sound a file of a few seconds.",
    }),
    bytes: z.int().min(0).meta({
      description:
        "Size in bytes of what was encoded: the file of an image, the pictures of a video, or the sound of the preview; 0 when pictures are copied.",
    }),
    seconds: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: "Seconds of media in those bytes; null for a picture." }),
    at: z.number().min(0).nullable().meta({
      description:
        "Time of the preview, in seconds of the source; for sound, its start. Null when the source is a still image.",
    }),
    width: pixels.meta({ description: "Width in pixels; null for sound." }),
    height: pixels.meta({ description: "Height in pixels; null for sound." }),
  })
  .meta({ id: "Preview", description: "One moment of an output and of the original, for comparison." });
/** A preview as a service returns it. */
export interface PreviewResponse extends z.infer<typeof PreviewResponse> {}

const bytes = z.number().min(0);

/** An estimate of an output: bounds of its size in bytes, and the seconds that its encode takes. */
export const OutputEstimate = z
  .object({
    bytes: z
      .object({
        low: bytes.meta({ description: "Lower bound in bytes." }),
        high: bytes.meta({ description: "Upper bound in bytes." }),
      })
      .meta({
        description: "Bounds of the total size of the output's files; equal when the size is certain.",
      }),
    seconds: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: "Seconds that the encode takes; null when unknown." }),
    score: z.number().nullable().meta({
      description:
        "Measured similarity to the source if the quality is auto, like the score of the output; otherwise null.",
    }),
  })
  .meta({ id: "Estimate", description: "An estimate of an output that has not been encoded." });
/** An estimate of an output: bounds of its size in bytes, and the seconds that its encode takes. */
export interface OutputEstimate extends z.infer<typeof OutputEstimate> {}
