import { z } from "zod";

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
