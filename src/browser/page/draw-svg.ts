import { MediaError } from "../../core/errors.ts";
import type { Size } from "../../plan/size.ts";
import type { PageAnswer } from "../media-api.ts";
import { answerOf } from "./answer.ts";

/**
 * Draws an SVG as an image element does, which runs no script in it and loads nothing that it names, into a PNG of a size in
 * pixels. Browsers draw none in a worker. Never rejects.
 */
export function drawSvg(file: Blob, { width, height }: Size): Promise<PageAnswer<Blob>> {
  return answerOf(
    async () => {
      if (typeof Image === "undefined") {
        throw new MediaError(
          "encoder_unavailable",
          "Only a page can draw an SVG, and this client runs in a worker.",
        );
      }
      const image = new Image();
      try {
        image.src = await dataUrl(file);
        await image.decode();
        const canvas = new OffscreenCanvas(width, height);
        canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
        return await canvas.convertToBlob({ type: "image/png" });
      } finally {
        // Ends its animations.
        image.removeAttribute("src");
      }
    },
    (cause) =>
      new MediaError("input_unsupported", "The SVG is damaged, or this browser cannot draw it.", { cause }),
  );
}

// From an object URL, Chromium returns no pixels of an SVG with a foreignObject, as draw.io writes them.
function dataUrl(file: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(file);
  return promise;
}
