import { z } from "zod";

/** A signed image URL. */
export const ImageUrl = z
  .object({
    url: z.string().meta({ description: "The URL for an `<img>`, which needs no API key." }),
    expires_at: z
      .int()
      .meta({ description: "Time at which the URL expires, in milliseconds since the Unix epoch." }),
  })
  .meta({ id: "ImageUrl" });
/** A signed image URL. */
export type ImageUrl = z.infer<typeof ImageUrl>;
