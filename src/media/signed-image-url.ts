import { z } from "zod";

/** A signed image URL. */
export const ImageUrl = z
  .object({
    url: z.string().meta({ description: "What an `<img>` shows; needs no API key." }),
    expires_at: z.int().meta({ description: "When it stops working, in milliseconds since 1970." }),
  })
  .meta({ id: "ImageUrl" });
/** A signed image URL. */
export type ImageUrl = z.infer<typeof ImageUrl>;
