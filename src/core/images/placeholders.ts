import { z } from "zod";

const asked = z.boolean("must be true or false.").optional();

/** The options of a probe that look at the picture. */
export const placeholders = {
  thumbhash: asked.meta({
    description:
      "Adds the ThumbHash of the picture, or of a frame of the video, to show in its place while it loads.",
    default: false,
  }),
  dominant_color: asked.meta({
    description: "Adds the color that most of the picture, or of a frame of the video, has.",
    default: false,
  }),
};
